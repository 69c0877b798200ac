"""`python -m sparallel`."""

from sparallel.cli.main import main

if __name__ == "__main__":
    main()

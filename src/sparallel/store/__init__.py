"""The experiment folder: one SQLite file with one writer, checkpoints and winners beside it.

DIR/sparallel.sqlite    every fact, each step of progress in one transaction
DIR/checkpoints/        states of live trials; may be deleted: trials then start over
DIR/winners/            parameters of every study's winner, for torch.load(weights_only=True)
DIR/lock                held by the run that writes
"""

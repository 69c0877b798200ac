/* sparallel.kernels._native: the kernels for Python, taking addresses of tensors' memory.
 *
 * The Python side checks types, shapes and contiguity before it hands over an address; a plan
 * knows its own sizes, so the only thing trusted here is that check. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "kernels.h"

static const kernel_set *kernels;
static const char CONV[] = "sparallel.conv_plan", LINEAR[] = "sparallel.linear_plan";

static void free_conv(PyObject *capsule) {
    conv_plan_free(PyCapsule_GetPointer(capsule, CONV));
}

static void free_linear(PyObject *capsule) {
    linear_plan_free(PyCapsule_GetPointer(capsule, LINEAR));
}

/* Integers and addresses (0: NULL) after an optional first plan; `count` of them. */
static int read_numbers(PyObject *const *args, Py_ssize_t given, Py_ssize_t count,
                        long long *numbers) {
    if (given != count) {
        PyErr_Format(PyExc_TypeError, "expected %zd arguments, got %zd", count, given);
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        numbers[i] = PyLong_AsLongLong(args[i]);
        if (numbers[i] == -1 && PyErr_Occurred()) return 0;
    }
    return 1;
}

static PyObject *done(int status) {
    if (status) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

static void *at(long long address) { return (void *)(intptr_t)address; }

/* new_conv_plan(14 numbers of the geometry, indices, kept) */
static PyObject *new_conv_plan(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    (void)self;
    long long n[16];
    if (!read_numbers(args, given, 16, n)) return NULL;
    for (int i = 0; i < 16; i++)
        if (i != 14 && (n[i] < 0 || n[i] > INT_MAX)) {
            PyErr_SetString(PyExc_ValueError, "a size is out of range");
            return NULL;
        }
    geometry shape = {(int)n[0], (int)n[1], (int)n[2],  (int)n[3],  (int)n[4],  (int)n[5],
                      (int)n[6], (int)n[7], (int)n[8],  (int)n[9],  (int)n[10], (int)n[11],
                      (int)n[12], (int)n[13]};
    const char *reason;
    conv_plan *plan = conv_plan_new(&shape, at(n[14]), (int)n[15], &reason);
    if (plan) return PyCapsule_New(plan, CONV, free_conv);
    PyErr_SetString(PyExc_ValueError, reason);
    return NULL;
}

/* new_linear_plan(features, outputs, indices, kept, columns) */
static PyObject *new_linear_plan(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    (void)self;
    long long n[5];
    if (!read_numbers(args, given, 5, n)) return NULL;
    if (n[0] > INT_MAX || n[1] > INT_MAX || n[3] > INT_MAX) {
        PyErr_SetString(PyExc_ValueError, "a size is out of range");
        return NULL;
    }
    const char *reason;
    linear_plan *plan =
        linear_plan_new((int)n[0], (int)n[1], at(n[2]), (int)n[3], at(n[4]), &reason);
    if (plan) return PyCapsule_New(plan, LINEAR, free_linear);
    PyErr_SetString(PyExc_ValueError, reason);
    return NULL;
}

static void *read_plan(PyObject *const *args, Py_ssize_t given, const char *name,
                       Py_ssize_t count, long long *numbers) {
    if (given < 1) {
        PyErr_SetString(PyExc_TypeError, "expected a plan");
        return NULL;
    }
    void *plan = PyCapsule_GetPointer(args[0], name);
    return plan && read_numbers(args + 1, given - 1, count, numbers) ? plan : NULL;
}

/* conv_forward(plan, blocks, x, values, bias, residual, out, choice) */
static PyObject *conv_forward(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    (void)self;
    long long n[7];
    int status;
    const conv_plan *plan = read_plan(args, given, CONV, 7, n);
    if (!plan) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = kernels->conv_forward(plan, (int)n[0], at(n[1]), at(n[2]), at(n[3]), at(n[4]),
                                   at(n[5]), at(n[6]));
    Py_END_ALLOW_THREADS;
    return done(status);
}

/* conv_backward(plan, blocks, x, values, gradient, choice, to_values, to_bias, to_x) */
static PyObject *conv_backward(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    (void)self;
    long long n[8];
    int status;
    const conv_plan *plan = read_plan(args, given, CONV, 8, n);
    if (!plan) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = kernels->conv_backward(plan, (int)n[0], at(n[1]), at(n[2]), at(n[3]), at(n[4]),
                                    at(n[5]), at(n[6]), at(n[7]));
    Py_END_ALLOW_THREADS;
    return done(status);
}

/* linear_forward(plan, blocks, x, values, bias, out) */
static PyObject *linear_forward(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    (void)self;
    long long n[5];
    const linear_plan *plan = read_plan(args, given, LINEAR, 5, n);
    if (!plan) return NULL;
    return done(kernels->linear_forward(plan, (int)n[0], at(n[1]), at(n[2]), at(n[3]), at(n[4])));
}

/* linear_backward(plan, blocks, x, values, gradient, to_values, to_bias, to_x) */
static PyObject *linear_backward(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    (void)self;
    long long n[7];
    const linear_plan *plan = read_plan(args, given, LINEAR, 7, n);
    if (!plan) return NULL;
    return done(kernels->linear_backward(plan, (int)n[0], at(n[1]), at(n[2]), at(n[3]), at(n[4]),
                                         at(n[5]), at(n[6])));
}

static averaging read_averaging(const long long *n) {
    return (averaging){(int)n[0], (int)n[1], (int)n[2], (int)n[3], (int)n[4], (int)n[5]};
}

/* average_forward(channels, height, width, before, after, relu, blocks, x, out) */
static PyObject *average_forward(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    (void)self;
    long long n[9];
    if (!read_numbers(args, given, 9, n)) return NULL;
    averaging a = read_averaging(n);
    kernels->average_forward(&a, (int)n[6], at(n[7]), at(n[8]));
    Py_RETURN_NONE;
}

/* average_backward(channels, height, width, before, after, relu, blocks, x, gradient, to_x) */
static PyObject *average_backward(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    (void)self;
    long long n[10];
    if (!read_numbers(args, given, 10, n)) return NULL;
    averaging a = read_averaging(n);
    kernels->average_backward(&a, (int)n[6], at(n[7]), at(n[8]), at(n[9]));
    Py_RETURN_NONE;
}

/* pool_forward(height, width, channels, examples, x, out, choice) */
static PyObject *pool_forward(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    (void)self;
    long long n[7];
    if (!read_numbers(args, given, 7, n)) return NULL;
    pooling s = {(int)n[0], (int)n[1], (int)n[2]};
    kernels->pool_forward(&s, (int)n[3], at(n[4]), at(n[5]), at(n[6]));
    Py_RETURN_NONE;
}

static pooled_conv read_pooled_conv(const long long *n) {
    return (pooled_conv){(int)n[0], (int)n[1], (int)n[2], (int)n[3], (int)n[4], (int)n[5]};
}

/* pooled_conv_forward(height, width, in_channels, kernel_height, kernel_width, channels, examples,
 *                    x, weights, bias, out, choice) */
static PyObject *pooled_conv_forward(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    (void)self;
    long long n[12];
    if (!read_numbers(args, given, 12, n)) return NULL;
    pooled_conv s = read_pooled_conv(n);
    int status;
    Py_BEGIN_ALLOW_THREADS;
    status = kernels->pooled_conv_forward(&s, (int)n[6], at(n[7]), at(n[8]), at(n[9]), at(n[10]),
                                          at(n[11]));
    Py_END_ALLOW_THREADS;
    return done(status);
}

/* pooled_conv_backward(the same six sizes, examples, x, weights, gradient, choice, to_weights,
 *                      to_bias, to_x) */
static PyObject *pooled_conv_backward(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    (void)self;
    long long n[14];
    if (!read_numbers(args, given, 14, n)) return NULL;
    pooled_conv s = read_pooled_conv(n);
    int status;
    Py_BEGIN_ALLOW_THREADS;
    status = kernels->pooled_conv_backward(&s, (int)n[6], at(n[7]), at(n[8]), at(n[9]), at(n[10]),
                                           at(n[11]), at(n[12]), at(n[13]));
    Py_END_ALLOW_THREADS;
    return done(status);
}

/* to_blocked(x, examples, size, out), from_blocked likewise */
static PyObject *to_blocked(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    (void)self;
    long long n[4];
    if (!read_numbers(args, given, 4, n)) return NULL;
    kernels->to_blocked(at(n[0]), (int)n[1], (int)n[2], at(n[3]));
    Py_RETURN_NONE;
}

static PyObject *from_blocked(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    (void)self;
    long long n[4];
    if (!read_numbers(args, given, 4, n)) return NULL;
    kernels->from_blocked(at(n[0]), (int)n[1], (int)n[2], at(n[3]));
    Py_RETURN_NONE;
}

#define METHOD(name) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, NULL}
static PyMethodDef methods[] = {
    METHOD(new_conv_plan),
    METHOD(new_linear_plan),
    METHOD(conv_forward),
    METHOD(conv_backward),
    METHOD(linear_forward),
    METHOD(linear_backward),
    METHOD(average_forward),
    METHOD(average_backward),
    METHOD(pool_forward),
    METHOD(pooled_conv_forward),
    METHOD(pooled_conv_backward),
    METHOD(to_blocked),
    METHOD(from_blocked),
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native", NULL, -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void) {
    const char *wanted = getenv("SPARALLEL_KERNELS");
    kernels = select_kernels(wanted);
    if (!kernels) {
        PyErr_Format(PyExc_ImportError,
                     "SPARALLEL_KERNELS=%s names no instruction set that this machine runs; "
                     "allowed are avx512, avx2 and baseline, as far as the machine has them",
                     wanted);
        return NULL;
    }
    PyObject *module = PyModule_Create(&definition);
    if (module && (PyModule_AddIntConstant(module, "LANES", kernels->lanes) ||
                   PyModule_AddStringConstant(module, "INSTRUCTION_SET", kernels->name)))
        Py_CLEAR(module);
    return module;
}

/* Linear layers, averages and the layout against loops that follow the definition. */
#include "check.h"

void check_linear(int round) {
    int features = 1 + below(50), outputs = 1 + below(12), blocks = 1 + below(19);
    int lanes = set->lanes;
    int64_t *indices = malloc((size_t)features * outputs * sizeof *indices);
    int64_t *columns = malloc((size_t)features * sizeof *columns);
    int kept = choose_kept(indices, features * outputs);
    for (int i = 0; i < features; i++) columns[i] = (i + 3) % features;
    buffer x = new_buffer((size_t)blocks * features * lanes, 1, 1);
    buffer values = new_buffer((size_t)kept, 3, 1), bias = new_buffer((size_t)outputs, 2, 1);
    buffer gradient = new_buffer((size_t)blocks * outputs * lanes, 1, 1);
    buffer out = new_buffer(gradient.count, 1, 0), to_x = new_buffer(x.count, 1, 0);
    buffer to_values = new_buffer((size_t)kept, 1, 0), to_bias = new_buffer((size_t)outputs, 1, 0);
    double *e_out = zeros(out.count), *e_x = zeros(x.count), *e_values = zeros((size_t)kept);
    double *e_bias = zeros((size_t)outputs);
    const char *reason = NULL;
    linear_plan *plan = linear_plan_new(features, outputs, indices, kept, columns, &reason);
    if (!plan) fail(reason, round);
    set->linear_forward(plan, blocks, x.at, values.at, bias.at, out.at);
    set->linear_backward(plan, blocks, x.at, values.at, gradient.at, to_values.at, to_bias.at,
                         to_x.at);
    for (size_t i = 0; i < out.count; i++) {
        e_out[i] = bias.at[i / lanes % outputs];
        e_bias[i / lanes % outputs] += gradient.at[i];
    }
    for (int e = 0; e < kept; e++)
        for (int p = 0; p < blocks * lanes; p++) {
            size_t n = p / lanes, lane = p % lanes;
            size_t from = (n * features + columns[indices[e] % features]) * lanes + lane;
            size_t to = (n * outputs + indices[e] / features) * lanes + lane;
            e_out[to] += (double)values.at[e] * x.at[from];
            e_values[e] += (double)gradient.at[to] * x.at[from];
            e_x[from] += (double)gradient.at[to] * values.at[e];
        }
    compare("linear output", round, &out, e_out);
    compare("linear weights' gradient", round, &to_values, e_values);
    compare("linear bias's gradient", round, &to_bias, e_bias);
    compare("linear input's gradient", round, &to_x, e_x);
    linear_plan_free(plan);
    void *all[] = {indices, columns, x.memory, values.memory, bias.memory, gradient.memory,
                   out.memory, to_x.memory, to_values.memory, to_bias.memory, e_out, e_x,
                   e_values, e_bias};
    for (int i = 0; i < 14; i++) free(all[i]);
}

void check_average(int round) {
    averaging a = {1 + below(4), 2 + below(7), 2 + below(7), below(3), below(3), below(2)};
    int blocks = 1 + below(2), lanes = set->lanes, height = a.height / 2, width = a.width / 2;
    size_t plane = (size_t)a.height * a.width, channels = a.before + a.channels + a.after;
    buffer x = new_buffer(blocks * a.channels * plane * lanes, 1, 1);
    buffer to_x = new_buffer(x.count, 3, 0);
    buffer gradient = new_buffer(blocks * channels * height * width * lanes, 2, 1);
    buffer out = new_buffer(gradient.count, 1, 0);
    double *e_out = zeros(out.count), *e_x = zeros(x.count);
    for (size_t i = 0; i < x.count; i++) {
        size_t lane = i % lanes, column = i / lanes % a.width, row = i / lanes / a.width % a.height;
        size_t c = i / lanes / plane % a.channels, n = i / lanes / plane / a.channels;
        if (row / 2 >= (size_t)height || column / 2 >= (size_t)width) continue;
        size_t at = ((((n * channels + a.before + c) * height + row / 2) * width) + column / 2) *
                        lanes + lane;
        if (a.relu && x.at[i] <= 0) continue;
        e_out[at] += x.at[i] / 4;
        e_x[i] = gradient.at[at] / 4;
    }
    set->average_forward(&a, blocks, x.at, out.at);
    set->average_backward(&a, blocks, x.at, gradient.at, to_x.at);
    compare("average", round, &out, e_out);
    compare("average's gradient", round, &to_x, e_x);
    void *all[] = {x.memory, to_x.memory, gradient.memory, out.memory, e_out, e_x};
    for (int i = 0; i < 6; i++) free(all[i]);
}

void check_layout(int round) {
    int examples = 1 + below(40), size = 1 + below(30), lanes = set->lanes;
    int blocks = (examples + lanes - 1) / lanes;
    buffer x = new_buffer((size_t)examples * size, 1, 1), back = new_buffer(x.count, 2, 0);
    buffer blocked = new_buffer((size_t)blocks * size * lanes, 3, 0);
    set->to_blocked(x.at, examples, size, blocked.at);
    for (size_t i = 0; i < blocked.count; i++) {
        size_t example = i / lanes / size * lanes + i % lanes;
        float expected = example < (size_t)examples ? x.at[example * size + i / lanes % size] : 0;
        if (blocked.at[i] != expected) fail("blocked layout", round);
    }
    set->from_blocked(blocked.at, examples, size, back.at);
    same_bits("plain layout", round, &x, &back);
    free(x.memory), free(back.memory), free(blocked.memory);
}

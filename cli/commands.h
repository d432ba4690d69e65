#pragma once

#include <CLI/CLI.hpp>

#include "subfleet/fleet/ranks.h"

// One file per command. Each function adds its command, options and callback to the program.
namespace subfleet::cli {

void add_bench_command(CLI::App& program);
void add_codes_command(CLI::App& program);
void add_data_command(CLI::App& program);
void add_devices_command(CLI::App& program);
void add_generate_command(CLI::App& program);
void add_model_command(CLI::App& program);
void add_node_command(CLI::App& program);
void add_plan_command(CLI::App& program);
void add_report_command(CLI::App& program);
void add_reproduce_command(CLI::App& program);
void add_sweep_command(CLI::App& program);
void add_test_command(CLI::App& program);
// These two also run under mpirun.
void add_train_command(CLI::App& program, Ranks& ranks);
void add_tune_command(CLI::App& program, Ranks& ranks);

}  // namespace subfleet::cli

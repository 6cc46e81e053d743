#include "options.h"

#include <taper/taper.h>

#include <CLI/CLI.hpp>
#include <iostream>

namespace examples {

int run_main(int argc, char** argv, const std::string& description,
             const std::function<int(const Options&)>& program) {
  Options options;
  options.threads = taper::get_num_threads();
  if (taper::cuda::is_available()) options.device = "cuda";

  CLI::App app(description);
  app.option_defaults()->always_capture_default();
  app.add_option("--epochs", options.epochs, "Epochs in all, those before --resume included")
      ->check(CLI::PositiveNumber);
  app.add_option("--batch", options.batch, "Samples per step")->check(CLI::PositiveNumber);
  app.add_option("--lr", options.lr, "Learning rate of Adam")->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed, "Same seed, same numbers");
  app.add_option("--threads", options.threads, "Threads for computing")->check(CLI::PositiveNumber);
  app.add_option("--workers", options.workers,
                 "Threads that load data; 0: none beside the main one")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--device", options.device, "cpu, cuda or cuda:N");
  app.add_option(
      "--data", options.data,
      "Folder in MNIST's format, gzipped or not (default: Fashion-MNIST where the system "
      "has it, else the digits that come with Taper)");
  app.add_option("--out", options.out, "Folder for the model, the history and the checkpoint");
  app.add_flag("--resume", options.resume, "Continue from the checkpoint in --out");
  app.add_flag("--dry-run", options.dry_run, "A few batches only, to see that everything works");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    return program(options);
  } catch (const std::exception& error) {
    std::cerr << "\nerror: " << error.what() << "\n";
    return 1;
  }
}

}  // namespace examples

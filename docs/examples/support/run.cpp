#include "run.h"

#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <filesystem>

namespace examples {

using namespace taper;

namespace {

constexpr std::chrono::seconds kSaveEvery{30};

volatile std::sig_atomic_t interrupted_by = 0;

std::string format(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, printable(value));
  return text;
}

// The most memory the process has held, in bytes.
int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<int64_t>(usage.ru_maxrss) * 1024;
}

Tensor bytes_to_tensor(const std::vector<uint8_t>& bytes) {
  return from_blob(const_cast<uint8_t*>(bytes.data()), static_cast<int64_t>(bytes.size()), kByte)
      .clone();
}
std::vector<uint8_t> tensor_to_bytes(const Tensor& tensor) {
  const uint8_t* data = tensor.data_ptr<uint8_t>();
  return {data, data + tensor.numel()};
}

// Loaders shuffle with the CPU's; dropout draws from the device's.
const Generator& cpu_generator() { return taper::detail::getDefaultCPUGenerator(); }
const Generator& generator_of(Device device) {
  return taper::detail::default_generator(taper::detail::resolve(device));
}

std::string number(double value) { return format("%g", value); }

std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace

Run::Run(const Options& options, const std::string& dataset, Device device)
    : options_(options),
      folder_(options.dry_run ? options.out + "/dry-run" : options.out),
      dataset_(dataset),
      device_(device) {
  interrupted_by = 0;
  std::signal(SIGINT, [](int signal) {
    // A second Ctrl-C ends at once, the usual way.
    interrupted_by = signal;
    std::signal(SIGINT, SIG_DFL);
  });
}

Run::~Run() { std::signal(SIGINT, SIG_DFL); }

void Run::start(const std::function<void(const data::LoaderState&)>& load_loader) {
  std::error_code failed;
  std::filesystem::create_directories(path("checkpoint"), failed);
  TAPER_CHECK(!failed, "--out ", options_.out, ": the folder cannot be made: ", failed.message());
  // Better to find out now than after the first epoch.
  data::atomic_write_file(path("checkpoint/.writable"), "");
  std::filesystem::remove(path("checkpoint/.writable"), failed);
  if (options_.resume) {
    load_checkpoint(load_loader);
  } else {
    write_history();
  }
  progress_.line("data     " + dataset_);
  progress_.line("device   " + device_.str() + ", " + std::to_string(options_.threads) + " thread" +
                 (options_.threads == 1 ? "" : "s"));
  if (!options_.note.empty()) progress_.line("emulated " + options_.note);
  int64_t parameters = 0;
  for (const Tensor& parameter : model_->parameters()) parameters += parameter.numel();
  progress_.line("model    " + std::to_string(parameters) + " parameters");
  if (options_.resume) {
    progress_.line("resumed  in epoch " + std::to_string(epoch_) + " from " + path("checkpoint"));
    for (const std::string& change : changes_) progress_.line("         " + change);
  }
  if (epoch_ > options_.epochs) {
    progress_.line("nothing left to do: " + std::to_string(epoch_ - 1) +
                   " epochs are done and --epochs is " + std::to_string(options_.epochs));
  }
  saved_at_ = Clock::now();
}

void Run::begin_phase(bool training, int64_t epoch, int64_t total) {
  in_training_ = training;
  total_ = total;
  if (training) {
    epoch_start_ = Clock::now();
  } else {
    resumed_in_validation_ = false;
    test_ = {};
    validation_random_ = random_state();
  }
  phase_start_ = Clock::now();
  progress_.begin("epoch " + std::to_string(epoch) + "/" + std::to_string(options_.epochs) +
                      (training ? "  train" : "  test "),
                  total);
}

Run::RandomState Run::random_state() const {
  RandomState state{cpu_generator().state_bytes(), {}};
  if (device_.is_cuda()) state.cuda = generator_of(device_).state_bytes();
  return state;
}

double Run::seconds_in_epoch() const {
  return earlier_seconds_ + std::chrono::duration<double>(Clock::now() - epoch_start_).count();
}

void Run::count(double loss, int64_t correct, int64_t samples) {
  Sums& sums = in_training_ ? train_ : test_;
  sums.loss += loss * static_cast<double>(samples);
  sums.correct += correct;
  sums.samples += samples;
  if (in_training_) {
    const auto now = Clock::now();
    trained_seconds_ += std::chrono::duration<double>(now - phase_start_).count();
    phase_start_ = now;
    trained_samples_ += samples;
  }
  progress_.update(sums.samples, sums.mean_loss());
}

bool Run::should_stop() {
  if (interrupted_by) return true;
  if (Clock::now() - saved_at_ >= kSaveEvery) save_checkpoint();
  return false;
}

int Run::interrupted() {
  save_checkpoint();
  progress_.line("stopped in epoch " + std::to_string(epoch_) +
                 "; saved. To go on: the same command with --resume");
  return 130;
}

void Run::finish_epoch() {
  const double seconds = seconds_in_epoch();
  history_.push_back({epoch_, train_.mean_loss(), train_.accuracy(), test_.mean_loss(),
                      test_.accuracy(), seconds});
  progress_.line("epoch " + std::to_string(epoch_) + "/" + std::to_string(options_.epochs) +
                 format("  train loss %.4f", train_.mean_loss()) +
                 format(" accuracy %.2f %%", 100 * train_.accuracy()) +
                 format("  test loss %.4f", test_.mean_loss()) +
                 progress_.bold(format(" accuracy %.2f %%", 100 * test_.accuracy())) +
                 format("  %.1f s", seconds));
  train_ = {};
  test_ = {};
  earlier_seconds_ = 0;
  ++epoch_;
  in_training_ = true;
  write_history();
  epoch_start_ = Clock::now();
  save_checkpoint();
}

void Run::finish() {
  OrderedDict<std::string, Tensor> state = model_->state_dict();
  data::TensorMap tensors;
  for (const auto& item : state) tensors[item.key()] = item.value();
  data::save_safetensors(tensors, path("model.safetensors"), {{"format", "pt"}});
  write_summary();
  const double accuracy = history_.empty() ? 0 : history_.back().test_accuracy;
  progress_.line(
      progress_.bold(format("test accuracy %.2f %%", 100 * accuracy)) +
      format(", %.0f samples/s",
             trained_seconds_ > 0 ? static_cast<double>(trained_samples_) / trained_seconds_ : 0) +
      format(", peak memory %.0f MB", static_cast<double>(peak_memory()) / 1e6));
  progress_.line("written to " + folder_ +
                 ": model.safetensors, history.csv, curves.svg, summary.json, "
                 "checkpoint/");
}

// ---- Files.

void Run::write_history() const {
  std::string csv = "epoch,train_loss,train_accuracy,test_loss,test_accuracy,seconds\n";
  for (const EpochRow& row : history_) {
    char line[256];
    std::snprintf(line, sizeof line, "%lld,%.9g,%.9g,%.9g,%.9g,%.3f\n",
                  static_cast<long long>(row.epoch), printable(row.train_loss), row.train_accuracy,
                  printable(row.test_loss), row.test_accuracy, row.seconds);
    csv += line;
  }
  data::atomic_write_file(path("history.csv"), csv);
  data::atomic_write_file(path("curves.svg"), curves_svg(history_, "CNN on " + dataset_));
}

void Run::write_summary() const {
  double seconds = 0;
  for (const EpochRow& row : history_) seconds += row.seconds;
  const double rate =
      trained_seconds_ > 0 ? static_cast<double>(trained_samples_) / trained_seconds_ : 0;
  std::string json = "{\n  \"dataset\": " + json_string(dataset_) +
                     ",\n  \"device\": " + json_string(device_.str()) +
                     ",\n  \"epochs\": " + std::to_string(history_.size());
  json += ",\n  \"test_accuracy\": " +
          format("%.6f", history_.empty() ? 0 : history_.back().test_accuracy);
  json += ",\n  \"samples_per_second\": " + format("%.1f", rate);
  json += ",\n  \"peak_memory_bytes\": " + std::to_string(peak_memory());
  json += ",\n  \"seconds\": " + format("%.3f", seconds) + "\n}\n";
  data::atomic_write_file(path("summary.json"), json);
}

// ---- The checkpoint: one file, replaced whole.

void Run::save_checkpoint() {
  const auto numbers = [](const std::vector<double>& values) { return tensor(values, kDouble); };
  serialize::OutputArchive archive, model, optimizer, loader;
  model_->save(model);
  optimizer_->save(optimizer);
  for (const auto& [name, value] : loader_state_().to_tensors()) loader.write(name, value);
  archive.write("dataset", IValue(dataset_));
  archive.write("samples", IValue(samples_));
  archive.write("first_labels", first_labels_);
  archive.write("batch", IValue(options_.batch));
  archive.write("seed", IValue(options_.seed));
  archive.write("dry_run", IValue(options_.dry_run));
  archive.write("model", model);
  archive.write("optimizer", optimizer);
  archive.write("loader", loader);
  const RandomState random = in_training_ ? random_state() : validation_random_;
  archive.write("random", bytes_to_tensor(random.cpu));
  if (device_.is_cuda()) archive.write("random_cuda", bytes_to_tensor(random.cuda));
  const double seconds = in_training_ && train_.samples == 0 ? 0 : seconds_in_epoch();
  archive.write("progress", numbers({static_cast<double>(epoch_), in_training_ ? 1.0 : 0.0, seconds,
                                     trained_seconds_, static_cast<double>(trained_samples_)}));
  archive.write("sums", numbers({train_.loss, static_cast<double>(train_.correct),
                                 static_cast<double>(train_.samples)}));
  std::vector<double> rows;
  for (const EpochRow& r : history_) {
    rows.insert(rows.end(), {static_cast<double>(r.epoch), r.train_loss, r.train_accuracy,
                             r.test_loss, r.test_accuracy, r.seconds});
  }
  archive.write("history", numbers(rows));
  archive.save_to(path("checkpoint/state.safetensors"));
  saved_at_ = Clock::now();
}

void Run::load_checkpoint(const std::function<void(const data::LoaderState&)>& load_loader) {
  const std::string file = path("checkpoint/state.safetensors");
  TAPER_CHECK(std::filesystem::exists(file), "--resume: there is no checkpoint ", file,
              ". Start without --resume, or name the folder of the earlier run with --out.");
  serialize::InputArchive archive;
  archive.load_from(file);
  const auto read = [&](const char* name) {
    Tensor value;
    archive.read(name, value);
    return value;
  };
  serialize::InputArchive model, optimizer, loader;
  check_settings(archive);
  archive.read("model", model);
  archive.read("optimizer", optimizer);
  archive.read("loader", loader);
  model_->load(model);
  optimizer_->load(optimizer);
  settle_learning_rate();
  std::map<std::string, Tensor> loader_tensors;
  for (const std::string& key : loader.keys()) loader.read(key, loader_tensors[key]);
  load_loader(data::LoaderState::from_tensors(loader_tensors));

  const Tensor progress = read("progress"), sums = read("sums"), history = read("history");
  const double* p = progress.data_ptr<double>();
  epoch_ = static_cast<int64_t>(p[0]);
  resumed_in_validation_ = p[1] == 0;
  earlier_seconds_ = p[2];
  trained_seconds_ = p[3];
  trained_samples_ = static_cast<int64_t>(p[4]);
  const double* s = sums.data_ptr<double>();
  train_ = {s[0], static_cast<int64_t>(s[1]), static_cast<int64_t>(s[2])};
  const double* h = history.data_ptr<double>();
  for (int64_t i = 0; i + 5 < history.numel(); i += 6) {
    history_.push_back(
        {static_cast<int64_t>(h[i]), h[i + 1], h[i + 2], h[i + 3], h[i + 4], h[i + 5]});
  }
  Generator generator = cpu_generator();
  generator.set_state_bytes(tensor_to_bytes(read("random")));
  if (!device_.is_cuda()) return;
  Tensor random;
  if (archive.try_read("random_cuda", random)) {
    generator = generator_of(device_);
    generator.set_state_bytes(tensor_to_bytes(random));
  } else {
    changes_.push_back("the random numbers of " + device_.str() +
                       " begin anew: the checkpoint has none of CUDA");
  }
}

// A run goes on with the data, the batches and the random numbers that it began with.
void Run::check_settings(serialize::InputArchive& archive) const {
  const auto read = [&](const char* name) {
    IValue value;
    archive.read(name, value);
    return value;
  };
  TAPER_CHECK(!read("dry_run").toBool(), "--resume: ", path("checkpoint"),
              " is of a dry run, which can't be resumed. Start without --resume.");
  constexpr const char* kAdvice = ". Give what the run began with, or start anew without --resume.";
  Tensor labels;
  archive.read("first_labels", labels);
  const int64_t samples = read("samples").toInt();
  TAPER_CHECK(samples == samples_ && equal(labels, first_labels_), "--resume: the run in ", folder_,
              " has other data: ", read("dataset").toStringRef(), ", ", samples,
              " samples. This command has ", dataset_, ", ", samples_, " samples", kAdvice);
  const auto check_same = [&](const char* option, int64_t before, int64_t now) {
    TAPER_CHECK(before == now, "--resume: the run in ", folder_, " has ", option, " ", before,
                ", but this command has ", option, " ", now, kAdvice);
  };
  check_same("--batch", read("batch").toInt(), options_.batch);
  check_same("--seed", read("seed").toInt(), options_.seed);
}

// The optimizer has the checkpoint's rate by now; one on the command line replaces it.
void Run::settle_learning_rate() {
  for (optim::OptimizerParamGroup& group : optimizer_->param_groups()) {
    const double before = group.options().get_lr();
    if (before == options_.lr) continue;
    if (options_.lr_given) {
      group.options().set_lr(options_.lr);
      changes_.push_back("--lr " + number(options_.lr) + " from here on, before it was " +
                         number(before));
    } else {
      changes_.push_back("--lr " + number(before) + ", as before");
    }
  }
}

}  // namespace examples

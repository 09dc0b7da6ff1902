#include "start.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace lamella::mpi {
namespace {

const char* const launchers[] = {"PMI_FD", "PMI_PORT", "PMI_RANK", "PMIX_NAMESPACE", "OMPI_COMM_WORLD_RANK"};

bool was_launched() {
  for (const char* name : launchers)
    if (std::getenv(name)) return true;
  return false;
}

// A store by its table, for this library.
class Keys {
 public:
  Keys(lamella_store* store, int64_t timeout) : store_(store), timeout_(timeout) {}
  void set(const std::string& key, const std::string& value) const {
    check(store_->table->set(store_, key.c_str(), value.data(), static_cast<int64_t>(value.size())));
  }
  std::string get(const std::string& key) const {
    lamella_value v = none();
    check(store_->table->get(store_, key.c_str(), timeout_, &v));
    std::string value(v.as.string, v.length);
    api().value_release(&v);
    return value;
  }
  int64_t add(const std::string& key, int64_t n) const {
    int64_t sum = 0;
    check(store_->table->add(store_, key.c_str(), n, &sum));
    return sum;
  }
  // Waits until all of `size` processes have come.
  void meet(const std::string& name, int size) const {
    if (add(name, 1) == size) set(name + "/open", "1");
    get(name + "/open");
  }

 private:
  lamella_store* store_;
  int64_t timeout_;
};

// Returns which ranks share a machine, as PMI writes it: "(vector,(0,1,2),(1,1,1))" puts two ranks on machine 0, and one
// on machine 1.
std::string mapping_of(const std::vector<std::string>& hosts) {
  std::map<std::string, int> numbers;
  std::string text = "(vector";
  for (size_t i = 0; i < hosts.size();) {
    size_t run = 1;
    while (i + run < hosts.size() && hosts[i + run] == hosts[i]) run++;
    const int node = numbers.try_emplace(hosts[i], static_cast<int>(numbers.size())).first->second;
    text += ",(" + std::to_string(node) + ",1," + std::to_string(run) + ")";
    i += run;
  }
  return text + ")";
}

// Answers this process's MPI: Note [PMI].
class Answers {
 public:
  // job: a name that no other job of these machines has, by which MPI names its shared memory
  Answers(Keys keys, int size, std::string job, std::string mapping)
      : keys_(std::move(keys)), size_(size), job_(std::move(job)), mapping_(std::move(mapping)) {}

  // Answers until MPI closes its end of the socket.
  void serve(int fd) const {
    std::string lines;
    char part[4096];
    while (true) {
      const ssize_t n = ::read(fd, part, sizeof part);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      lines.append(part, static_cast<size_t>(n));
      for (size_t end; (end = lines.find('\n')) != std::string::npos; lines.erase(0, end + 1)) {
        const std::string answer = answer_to(lines.substr(0, end)) + "\n";
        if (::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) break;
      }
    }
    ::close(fd);
  }

 private:
  // Returns the word after `name=`; of a value, which comes last, the rest of the line.
  static std::string field(const std::string& line, const std::string& name) {
    const size_t at = (" " + line).find(" " + name + "=");
    if (at == std::string::npos) return "";
    const size_t begin = at + name.size() + 1;
    return line.substr(begin, name == "value" ? std::string::npos : line.find(' ', begin) - begin);
  }

  std::string answer_to(const std::string& line) const {
    const std::string command = field(line, "cmd"), key = "pmi/" + field(line, "key");
    if (command == "init") return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0";
    if (command == "get_maxes") return "cmd=maxes kvsname_max=256 keylen_max=256 vallen_max=1024 rc=0";
    if (command == "get_appnum") return "cmd=appnum appnum=0 rc=0";
    if (command == "get_my_kvsname") return "cmd=my_kvsname kvsname=" + job_ + " rc=0";
    if (command == "get_universe_size") return "cmd=universe_size size=" + std::to_string(size_) + " rc=0";
    if (command == "finalize") return "cmd=finalize_ack rc=0";
    try {
      if (command == "put") return keys_.set(key, field(line, "value")), "cmd=put_result rc=0 msg=success";
      if (command == "get") return get(key);
      if (command == "barrier_in") return meet(), "cmd=barrier_out rc=0";
    } catch (const Error&) {  // the store is gone: MPI reports the call that failed
    }
    return "cmd=" + (command == "barrier_in" ? "barrier_out" : command + "_result") + " rc=-1 msg=failed";
  }
  std::string get(const std::string& key) const {
    const std::string absent = "cmd=get_result rc=-1 msg=not_found value=unknown";
    if (key == "pmi/PMI_process_mapping") return "cmd=get_result rc=0 msg=success value=" + mapping_;
    if (key.rfind("pmi/PMI_", 0) == 0) return absent;  // what a launcher would say of itself
    return "cmd=get_result rc=0 msg=success value=" + keys_.get(key);
  }
  void meet() const { keys_.meet("pmi barrier/" + std::to_string(barriers_++), size_); }

  Keys keys_;
  int size_;
  std::string job_, mapping_;
  mutable int barriers_ = 0;
};

std::string random_name() {
  unsigned char bytes[12];
  LAMELLA_CHECK(::getentropy(bytes, sizeof bytes) == 0, "process group 'mpi': no random bytes: ", std::strerror(errno));
  std::string name = "lamella";
  for (const unsigned char b : bytes) {
    name += static_cast<char>('a' + b / 16);
    name += static_cast<char>('a' + b % 16);
  }
  return name;
}

// Identifies the machine, by what processes that share memory have in common.
std::string machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  struct stat s {};
  ::stat("/dev/shm", &s);
  return id + "/" + std::to_string(s.st_dev);
}

// Keeps a store until the process ends, since MPI may ask until then.
void keep(lamella_store* store) {
  static lamella_store* kept = nullptr;
  static const pid_t owner = ::getpid();
  static const int registered = std::atexit([] {
    if (::getpid() == owner) api().release(kept);
  });
  (void)registered;
  api().retain(store);
  api().release(std::exchange(kept, store));  // of an attempt that failed
}

// Removes the names of the shared memory that MPI has attached, which would stay if a process were killed. The memory
// itself stays until its last process ends.
void forget_names() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (const size_t at = line.find("/dev/shm/mpich"); at != std::string::npos) ::unlink(line.c_str() + at);
}

std::atomic<bool> failed{false};

void init() {
  int provided = 0;
  mpi().check("Init_thread", mpi().Init_thread(nullptr, nullptr, mpi().thread_multiple, &provided));
}

}  // namespace

void note_failure() { failed = true; }

void start(lamella_store* store, int rank, int size, int64_t timeout) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  int started = 0;
  mpi().check("Initialized", mpi().Initialized(&started));
  if (!started && was_launched()) {
    init();
    // A launcher takes a process that ends without this for one that failed.
    static const pid_t owner = ::getpid();
    std::atexit([] {
      if (!failed && ::getpid() == owner) mpi().Finalize();
    });
  } else if (!started) {
    LAMELLA_CHECK(mpi().is_mpich || size == 1,
                  "process group 'mpi': this MPI library needs its own launcher: start the program by its "
                  "mpiexec, or install mpich (pip install 'lamella[mpi]'), which needs none");
    const Keys keys(store, timeout);
    keep(store);
    // All ranks come here before MPI starts: MPI would end the process if one was missing.
    if (rank == 0) keys.set("mpi/job", random_name());
    keys.set("mpi/" + std::to_string(rank), machine());
    std::vector<std::string> hosts;
    for (int r = 0; r < size; r++) hosts.push_back(keys.get("mpi/" + std::to_string(r)));
    int ends[2];
    LAMELLA_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0,
                  "process group 'mpi': no socket: ", std::strerror(errno));
    std::thread([answers = Answers(keys, size, keys.get("mpi/job"), mapping_of(hosts)), fd = ends[0]] {
      answers.serve(fd);
    }).detach();
    const std::pair<const char*, int> settings[] = {{"PMI_FD", ends[1]}, {"PMI_RANK", rank}, {"PMI_SIZE", size}};
    struct Last {
      ~Last() {
        for (const char* name : {"PMI_FD", "PMI_RANK", "PMI_SIZE"}) ::unsetenv(name);
      }
    };
    {
      const Last last;  // programs that this one starts are no ranks
      for (const auto& [name, number] : settings) ::setenv(name, std::to_string(number).c_str(), 1);
      init();
    }
    keys.meet("mpi/attached", size);
    forget_names();
  }
  int threads = 0;
  mpi().check("Query_thread", mpi().Query_thread(&threads));
  LAMELLA_CHECK(
      threads == mpi().thread_multiple,
      "process group 'mpi': MPI was started without MPI_THREAD_MULTIPLE, which it needs: start it so, or leave "
      "that to init_process_group");
  mpi().check("Comm_set_errhandler", mpi().Comm_set_errhandler(mpi().world, mpi().errors_return));
  int world = 0;
  mpi().check("Comm_size", mpi().Comm_size(mpi().world, &world));
  LAMELLA_CHECK(world == size, "process group 'mpi': MPI was started with ", world,
                " processes, and cannot be started again; init_process_group got world_size ", size);
}

}  // namespace lamella::mpi

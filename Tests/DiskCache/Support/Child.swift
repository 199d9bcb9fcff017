import AlcedoLibc
import Testing

/// What the processes of exit tests do.
enum Child {
    /// One line on standard output, at once: what is said is said, whatever happens next.
    static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = write(1, bytes, bytes.count)
    }

    /// Says what `work` throws, which the parent would not hear of otherwise, and ends the process.
    static func tellTrouble(_ work: () async throws -> Void) async {
        do {
            try await work()
        } catch {
            say("\(error)")
            exit(1)
        }
    }

    /// What a process has said.
    static func told(_ output: [UInt8]?) -> Comment { "\(String(decoding: output ?? [], as: UTF8.self))" }

    /// Gives the directory to somebody whom the system refuses something, and this process to him. The folder around it
    /// too, which goes with the process.
    static func becomeNobody(owning directory: String) {
        guard geteuid() == 0 else { return }
        let nobody: uid_t = 65534
        let folders = [directory + "/..", directory]
        guard folders.allSatisfy({ chown($0, nobody, nobody) == 0 }), setgid(nobody) == 0, setuid(nobody) == 0 else {
            say("cannot become somebody else")
            exit(2)
        }
    }

    /// Ends this process by SIGKILL at an instant that has nothing to do with what it does.
    static func dieSoon(within milliseconds: Int) {
        let microseconds = UInt32.random(in: 500...UInt32(milliseconds * 1000))
        Task.detached(priority: .high) {
            // Real time, in a process of its own: a clock that is moved by hand would know where its work stands.
            usleep(microseconds)
            kill(getpid(), SIGKILL)
        }
    }
}

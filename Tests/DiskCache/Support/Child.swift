import AlcedoLibc
import Testing

/// Helpers for the child processes of exit tests.
enum Child {
    /// Writes one line to standard output without buffering, so that it is written whatever happens next.
    static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = write(1, bytes, bytes.count)
    }

    /// Prints the error of `work`, which the parent would not receive otherwise, and exits.
    static func tellTrouble(_ work: () async throws -> Void) async {
        do {
            try await work()
        } catch {
            say("\(error)")
            exit(1)
        }
    }

    /// Returns the output of a process as a comment.
    static func told(_ output: [UInt8]?) -> Comment { "\(String(decoding: output ?? [], as: UTF8.self))" }

    /// Ends this process by SIGKILL at an instant that is independent of its work.
    static func dieSoon(within milliseconds: Int) {
        let microseconds = UInt32.random(in: 500...UInt32(milliseconds * 1000))
        Task.detached(priority: .high) {
            // Real time, because a manual clock would depend on the progress of the work.
            usleep(microseconds)
            kill(getpid(), SIGKILL)
        }
    }
}

import AlcedoLibc
import AlcedoTesting
import CMalloc
import FoundationEssentials

/// The processes of the script `run`: `mixed-run origin EPOCH`, and
/// `mixed-run worker PORT NUMBER DIRECTORY EPOCH SECONDS`.
@main
struct MixedRun {
    static func main() async throws {
        let words = CommandLine.arguments.dropFirst()
        switch (words.first, words.count) {
        case ("origin", 2):
            guard let epoch = Double(words[2]) else { break }
            var options = OriginOptions()
            options.logLimit = 0
            let origin = try LoopbackOrigin(options: options) { HostileOrigin(epoch: epoch).reply(to: $0) }
            print(origin.port)
            fflush(nil)
            // The replies that stall do so for a tenth of a second at most. Only the length of the run depends on it.
            while true {
                try await Task.sleep(for: .milliseconds(100))
                origin.release()
            }
        case ("worker", 6):
            guard let port = Int(words[2]), let number = Int(words[3]), let epoch = Double(words[5]),
                let seconds = Int(words[6])
            else { break }
            // The bytes of images go back to the system, as in the thumbnail server. Otherwise, glibc keeps three times
            // the memory that is in use, and a leak would not show.
            #if canImport(Glibc)
                mallopt(M_MMAP_THRESHOLD, 128 << 10)
            #endif
            let worker = Worker(port: port, number: number, directory: URL(filePath: words[4]), epoch: epoch)
            return try await worker.run(for: .seconds(seconds))
        default: break
        }
        print("usage: see Tests/MixedRun/run")
    }
}

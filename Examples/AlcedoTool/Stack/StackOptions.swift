import Alcedo
import ExampleSupport
import FoundationEssentials

/// The options of commands that load images: the cache on disk, and the network.
struct StackOptions: Sendable {
    static let help =
        """
          --cache DIR      keep original bytes, and parts of them, in DIR (default: the user's cache directory)
          --no-cache       keep nothing on disk

        """ + NetworkOptions.help

    /// How long an interrupted job is waited for. What it has not written by then it will not write: files get their names
    /// when they are whole.
    private static let grace = Duration.seconds(1)

    /// Most bytes of unfinished transfers on disk.
    private static let partLimit = 256 << 20

    private(set) var network = NetworkOptions()
    private var cache = DefaultCache.directory

    /// Takes an option and its value. Returns false for one that is about something else.
    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--cache": cache = URL(filePath: try arguments.value(of: option), directoryHint: .isDirectory)
        case "--no-cache": cache = nil
        default: return try network.take(option, from: &arguments)
        }
        return true
    }

    /// Makes the stack, and runs a job on it, which may be interrupted.
    ///
    /// - Parameters:
    ///   - downloads: How many there may be, each of which may use up its own retries.
    ///   - tally: Says how far the job has come that is interrupted; nil: nobody does.
    ///   - job: Says whether all went well.
    /// - Throws: When the authorities cannot be read.
    func run(
        downloads: Int, tally: RunTally? = nil,
        _ job: @escaping @Sendable (ImagePipeline.Configuration, Interruption) async -> Bool
    ) async throws -> ExitStatus {
        let log = network.isVerbose ? TransferLog { Console.note($0) } : nil
        let downloader = try network.downloader(parts: parts, downloads: downloads, log: log)
        let running = Locked<Task<Bool, Never>?>(nil)
        let end = StoppableWork<Bool>()
        let interruption = Interruption {
            // Transfers first: they keep what has come. Then what decodes, processes and draws.
            await downloader.shutDown()
            running.withLock { $0 }?.cancel()
            end.hasBeenStopped(grace: Self.grace)
        }
        let work = Task { [cache] in
            await job(.standard(cacheDirectory: cache, downloader: downloader), interruption)
        }
        running.withLock { $0 = work }
        // A signal that came before found nothing to cancel.
        if interruption.hasCome { work.cancel() }
        let isGood = await end.value(of: work)
        if let log { Console.note(log.summary) }
        if interruption.hasCome { tally?.tellInterruption() }
        return await interruption.finish() ?? (isGood == true ? .success : .failure)
    }

    /// Where the beginnings of broken transfers are kept: beside the images, in a folder of their own, whose name is none that
    /// the images' cache has for its own purposes.
    private var parts: FileDiskCache? {
        cache.map { FileDiskCache(directory: Self.parts(in: $0), sizeLimit: Self.partLimit) }
    }

    static func parts(in cache: URL) -> URL { cache.appending(path: "parts", directoryHint: .isDirectory) }
}

import Alcedo
import AlcedoLibc
import AlcedoProgramSupport
import FoundationEssentials

/// The options of commands that load images: the cache on disk, and the network.
struct StackOptions: Sendable {
    static let help =
        """
          --cache DIR      keep original bytes, and parts of them, in DIR (default: the user's cache directory)
          --no-cache       keep nothing on disk

        """ + NetworkOptions.help

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
    /// - Throws: When the authorities cannot be read, and when the cache's folder has something in the place of its index.
    func run(
        downloads: Int, tally: RunTally? = nil,
        _ job: @escaping @Sendable (ImagePipeline.Configuration, Interruption) async -> Bool
    ) async throws -> ExitStatus {
        if let cache { try await CacheDirectory.check(cache, mustExist: false) }
        let log = network.isVerbose ? TransferLog { Console.notice($0) } : nil
        let downloader = try network.downloader(parts: parts, downloads: downloads, log: log)
        return await InterruptibleJob(downloader: downloader, log: log, tally: tally).run { [cache] interruption in
            await job(.standard(cacheDirectory: cache, downloader: downloader), interruption)
        }
    }

    /// Where the beginnings of broken transfers are kept: beside the images, in a folder of their own, whose name is none that
    /// the images' cache has for its own purposes.
    private var parts: FileDiskCache? {
        cache.map { FileDiskCache(directory: Self.parts(in: $0), sizeLimit: Self.partLimit) }
    }

    static func parts(in cache: URL) -> URL { cache.appending(path: "parts", directoryHint: .isDirectory) }
}

/// The cache on disk where none is named.
private enum DefaultCache {
    /// nil without a home, and where the home is none: then it cannot be made, as for the users of many services, and each
    /// load would tell of that. One that is there is used, whatever may be done to it.
    static var directory: URL? {
        guard let directory = ImagePipeline.Configuration.standardCacheDirectory else { return nil }
        var path = directory.path(percentEncoded: false)
        guard access(path, F_OK) != 0 else { return directory }
        // What is there already has to take what is not.
        while access(path, F_OK) != 0 {
            guard errno == ENOENT else { return nil }
            path = PathParts.directory(of: path.hasSuffix("/") ? String(path.dropLast()) : path)
            guard !path.isEmpty else { return nil }
        }
        return access(path, W_OK | X_OK) == 0 ? directory : nil
    }
}

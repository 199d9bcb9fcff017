import Alcedo
import AlcedoLibc
import AlcedoProgramSupport
import FoundationEssentials

/// The options of commands that load images: the disk cache and the network.
struct StackOptions: Sendable {
    static let help =
        """
          --cache DIR             cache images and unfinished downloads in DIR (default: the user's cache directory)
          --no-cache              do not cache on disk

        """ + NetworkOptions.help

    /// The maximum number of bytes of unfinished downloads on disk: 256 MiB.
    private static let partLimit = 256 << 20

    private(set) var network = NetworkOptions()
    private var cache = DefaultCache.directory

    /// Parses an option and its value. Returns false if the option belongs to another group.
    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--cache": cache = URL(filePath: try arguments.value(of: option), directoryHint: .isDirectory)
        case "--no-cache": cache = nil
        default: return try network.take(option, from: &arguments)
        }
        return true
    }

    /// Turns off the cache on disk, as `--no-cache` does.
    mutating func disableCache() { cache = nil }

    /// Creates the pipeline configuration and runs an interruptible job with it.
    ///
    /// - Parameters:
    ///   - inputs: The options with the codecs of the pipeline, and with the limit of the memory of decodes.
    ///   - downloads: The maximum number of downloads in the whole run. Each download may use all of its retries.
    ///   - tally: The counter that reports the progress of an interrupted job, or nil.
    ///   - job: The job. Returns whether it succeeded.
    /// - Throws: An error if the certificates cannot be read, or if the cache directory contains another file with the
    ///   name of its index.
    func run(
        inputs: InputOptions, downloads: Int, tally: RunTally? = nil,
        _ job: @escaping @Sendable (ImagePipeline.Configuration, Interruption) async -> Bool
    ) async throws -> ExitStatus {
        if let cache { try await CacheDirectory.check(cache, mustExist: false) }
        let (codecs, byteLimit) = (inputs.codecs, inputs.limits.maximumByteCount)
        let log = network.isVerbose ? TransferLog { Console.notice($0) } : nil
        let downloader = try network.downloader(parts: parts, downloads: downloads, log: log)
        return await InterruptibleJob(downloader: downloader, log: log, tally: tally).run { [cache] interruption in
            var configuration = ImagePipeline.Configuration.standard(cacheDirectory: cache, downloader: downloader)
            configuration.codecs = codecs
            configuration.maximumDecodingByteCount = byteLimit
            return await job(configuration, interruption)
        }
    }

    /// The storage of unfinished downloads, or nil without a cache: a subdirectory of the cache, with a name that the
    /// image cache does not use for its own files.
    private var parts: FileDiskCache? {
        cache.map { FileDiskCache(directory: Self.parts(in: $0), sizeLimit: Self.partLimit) }
    }

    static func parts(in cache: URL) -> URL { cache.appending(path: "parts", directoryHint: .isDirectory) }
}

private enum DefaultCache {
    /// The standard cache directory, or nil if neither `XDG_CACHE_HOME` nor `HOME` is an absolute path or if the
    /// directory cannot be created. Service users often have no home directory, and each load would report a write
    /// error. An existing directory is used even if it is not writable.
    static var directory: URL? {
        guard let directory = ImagePipeline.Configuration.cacheDirectory() else { return nil }
        var path = directory.path(percentEncoded: false)
        guard access(path, F_OK) != 0 else { return directory }
        // The nearest existing ancestor must be writable, because the missing directories are created in it.
        while access(path, F_OK) != 0 {
            guard errno == ENOENT else { return nil }
            path = PathParts.directory(of: path.hasSuffix("/") ? String(path.dropLast()) : path)
            guard !path.isEmpty else { return nil }
        }
        return access(path, W_OK | X_OK) == 0 ? directory : nil
    }
}

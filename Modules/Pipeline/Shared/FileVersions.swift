import AlcedoCore
import AlcedoRuntime

/// A reader of the versions of local files. It also records which version of each image was stored last.
final class FileVersions: Sendable {
    // Separate threads, because a slow file system must not block the decoding threads.
    private let threads: BlockingExecutor
    /// The key under which each image was stored last, by its key without a version.
    private let kept = Locked(RecentTable<ImageKey, ImageKey>(limit: 4_096))

    /// Creates a reader of versions.
    ///
    /// - Parameter taskExecutor: An executor that replaces the threads, or nil to use threads.
    init(taskExecutor: (any TaskExecutor)?) {
        threads = BlockingExecutor(name: "alcedo.versions", maxConcurrent: 2, taskExecutor: taskExecutor)
    }

    /// Returns the request with the current version of its local file, after that version has settled. A request whose
    /// key needs no version is returned unchanged.
    func settled(_ request: ImageRequest) async -> ImageRequest {
        guard let path = request.fileNeedingVersion else { return request }
        var settled = request
        settled.fileVersion = await version(path)
        return settled
    }

    /// Returns whether the local file of a request still has the version in the request. True for other sources, and
    /// for a request without a version.
    func isCurrent(_ request: ImageRequest) async -> Bool {
        guard case .file(let path) = request.source, let version = request.fileVersion else { return true }
        return await self.version(path) == version
    }

    /// Records that an image is stored under the key of a request. Returns the key of the version that it replaces, or
    /// nil.
    func recordKept(_ request: ImageRequest) -> ImageKey? {
        guard request.fileVersion != nil else { return nil }
        let (key, name) = (request.key, request.unversionedKey)
        let previous = kept.withLock { kept in
            defer { kept.set(key, for: name) }
            return kept[name]
        }
        return previous == key ? nil : previous
    }

    /// Returns the keys under which the image of a request may be stored: its own, and that of the version stored last.
    func keys(of request: ImageRequest) -> [ImageKey] {
        let key = request.key
        guard request.fileVersion != nil, let last = kept.withLock({ $0[request.unversionedKey] }), last != key else {
            return [key]
        }
        return [key, last]
    }

    /// Reads the version of a file. Runs in an unstructured task, which a cancellation of the caller does not reach;
    /// the read is short.
    private func version(_ path: String) async -> FileVersion {
        let version = Task(executorPreference: threads.taskExecutor) { [threads] in
            try? await threads.run { FileVersion.settled(path: path) }
        }
        return await version.value ?? FileVersion(path: path)
    }
}

import AlcedoCore
import AlcedoRuntime

/// Asks for the versions of local files, and remembers which version of an image was kept last.
final class FileVersions: Sendable {
    // The file system may block as long as it likes, which must not keep the threads of decoders.
    private let threads: BlockingExecutor
    /// The last key under which an image was kept, by its key without a version.
    private let kept = Locked(RecentTable<ImageKey, ImageKey>(limit: 4_096))

    /// - Parameter taskExecutor: Runs the work in place of threads; nil: there are threads.
    init(taskExecutor: (any TaskExecutor)?) {
        threads = BlockingExecutor(name: "alcedo.versions", width: 2, taskExecutor: taskExecutor)
    }

    /// Returns a request with the version that its local file has now, once that is settled.
    func settled(_ request: ImageRequest) async -> ImageRequest {
        guard let path = request.fileNeedingVersion else { return request }
        var settled = request
        settled.fileVersion = await version(path)
        return settled
    }

    /// Whether the local file of a request still has the version that the request is about. True for other sources.
    func isCurrent(_ request: ImageRequest) async -> Bool {
        guard case .file(let path) = request.source, let version = request.fileVersion else { return true }
        return await self.version(path) == version
    }

    /// Notes that an image is kept under the key of a request. Returns the key of the version that it replaces.
    func recordKept(_ request: ImageRequest) -> ImageKey? {
        guard request.fileVersion != nil else { return nil }
        let (key, name) = (request.key, request.unversionedKey)
        let before = kept.withLock { kept in
            defer { kept.set(key, for: name) }
            return kept[name]
        }
        return before == key ? nil : before
    }

    /// The keys under which the image of a request may be kept: its own, and that of the version that was kept last.
    func keys(of request: ImageRequest) -> [ImageKey] {
        let key = request.key
        guard request.fileVersion != nil, let last = kept.withLock({ $0[request.unversionedKey] }), last != key else {
            return [key]
        }
        return [key, last]
    }

    /// In a task of its own, which nobody cancels: the answer is soon there.
    private func version(_ path: String) async -> FileVersion {
        let version = Task(executorPreference: threads.taskExecutor) { [threads] in
            try? await threads.run { FileVersion.settled(path: path) }
        }
        return await version.value ?? FileVersion(path: path)
    }
}

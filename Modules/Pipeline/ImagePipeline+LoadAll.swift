public import AlcedoCore

extension ImagePipeline {
    /// Loads many images, a limited number at a time, and passes on each result as its load ends.
    ///
    /// ```swift
    /// try await pipeline.loadAll(urls.map { ImageRequest(url: $0) }) { index, result in
    ///     if let image = try? result.get().image { show(image, at: index) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - requests: The requests, which begin in this order.
    ///   - maxConcurrentLoads: The maximum number of concurrent loads. Values below one count as one. Default: 8.
    ///   - progress: A closure that receives the index of a request and the progress of its download. It is called on
    ///     any thread and must not block. Default: none.
    ///   - onResult: A closure that receives the index and the result of a request, in the order in which loads end.
    ///     Calls do not overlap, and no load begins during a call.
    /// - Throws: The errors of `onResult`, or `CancellationError` when the task is canceled. Both cancel the remaining
    ///   loads.
    public func loadAll(
        _ requests: [ImageRequest], maxConcurrentLoads: Int = 8,
        progress: (@Sendable (_ index: Int, _ progress: DownloadProgress) -> Void)? = nil,
        onResult: (_ index: Int, _ result: Result<ImageResponse, any Error>) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: (Int, Result<ImageResponse, any Error>).self) { group in
            var next = 0
            func addNext() {
                guard next < requests.count else { return }
                let index = next
                next += 1
                group.addTask {
                    do {
                        let response = try await self.load(requests[index]) { progress?(index, $0) }
                        return (index, .success(response))
                    } catch {
                        return (index, .failure(error))
                    }
                }
            }
            for _ in 0..<max(1, maxConcurrentLoads) { addNext() }
            while let (index, result) = try await group.next() {
                try Task.checkCancellation()
                try await onResult(index, result)
                addNext()
            }
        }
    }
}

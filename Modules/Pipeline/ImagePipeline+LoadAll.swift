public import AlcedoCore

extension ImagePipeline {
    /// Loads many images, a few at a time, and hands over each as it is there.
    ///
    /// - Parameters:
    ///   - requests: What is wanted, in any order.
    ///   - maxConcurrentLoads: The maximum number of loads at the same time; below one counts as one. Default: 8.
    ///   - progress: Gets the index of a request whose bytes arrive, from any thread; must not block. Default: nobody.
    ///   - onResult: Gets the index of the request, in the order in which loads end.
    /// - Throws: What `onResult` throws, or `CancellationError` when the task is cancelled; the loads then end.
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

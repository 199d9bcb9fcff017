package import Alcedo

/// Does something with images as a person has named them, a few at a time, with a progress line while a terminal watches.
package struct BatchLoad: Sendable {
    package typealias Progress = @Sendable (DownloadProgress) -> Void

    let images: ImageList
    /// The maximum number of concurrent loads.
    let maxConcurrentLoads: Int
    /// When it has come nothing more begins, and only what has been done is handed over.
    let interruption: Interruption?
    let showsProgress: Bool

    package init(_ images: ImageList, maxConcurrentLoads: Int, interruption: Interruption?, showsProgress: Bool) {
        self.images = images
        self.maxConcurrentLoads = maxConcurrentLoads
        self.interruption = interruption
        self.showsProgress = showsProgress
    }

    package var isInterrupted: Bool { interruption?.isRequested ?? false }

    /// Hands over what became of each image, by its index, as they end. Holds what is under way, and no more, however many
    /// images there are.
    ///
    /// - Parameter load: Is told what is wanted, and tells of bytes that arrive.
    package func run<Output: Sendable>(
        _ load: @escaping @Sendable (ImageRequest, _ index: Int, @escaping Progress) async throws -> Output,
        onResult: (_ index: Int, Result<Output, any Error>) async -> Void
    ) async {
        let line = ProgressLine(total: images.count, isVisible: showsProgress)
        await withTaskGroup(of: (Int, Result<Output, any Error>).self) { group in
            var next = 0
            func addNext() {
                guard next < images.count else { return }
                let index = next
                next += 1
                group.addTask {
                    let transfer = TransferProgress()
                    await line.begin(index, transfer)
                    do {
                        let request = try images[index].request.get()
                        let loaded = try await load(request, index) { progress in
                            transfer.report(progress)
                            Task { await line.received(for: index) }
                        }
                        return (index, .success(loaded))
                    } catch {
                        return (index, .failure(error))
                    }
                }
            }
            for _ in 0..<max(1, maxConcurrentLoads) { addNext() }
            while let (index, result) = await group.next() {
                let isComplete = (try? result.get()) != nil
                let isLast = isInterrupted
                if isLast {
                    group.cancelAll()
                    // What is broken off now is not what the line counts.
                    await line.end()
                }
                // What was broken off has not failed, but what has been made is there.
                if isComplete || !isLast { await onResult(index, result) }
                await line.finished(index, isComplete: isComplete)
                if !isLast { addNext() }
            }
        }
        await line.end()
    }
}

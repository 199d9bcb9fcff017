import Alcedo
import AlcedoProgramSupport

/// A bounded number of concurrent loads over a list of images, with a progress line on a terminal.
struct BatchLoad: Sendable {
    typealias Progress = @Sendable (DownloadProgress) -> Void

    let images: ImageList
    let maxConcurrentLoads: Int
    /// The interruption, after which no load starts. Loads that have succeeded are still reported.
    let interruption: Interruption?
    let showsProgress: Bool

    init(_ images: ImageList, maxConcurrentLoads: Int, interruption: Interruption?, showsProgress: Bool) {
        self.images = images
        self.maxConcurrentLoads = maxConcurrentLoads
        self.interruption = interruption
        self.showsProgress = showsProgress
    }

    var isInterrupted: Bool { interruption?.isRequested ?? false }

    /// Loads every image and passes each result, with the image's index, to `onResult` in the order of completion.
    /// Memory use depends on the number of concurrent loads, not on the length of the list.
    ///
    /// - Parameters:
    ///   - load: Loads an image. Receives the request, the index and a function that reports received bytes.
    ///   - onResult: Receives each result. After an interruption, it receives successful results only.
    func run<Output: Sendable>(
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
                    // The line does not count loads that the interruption cancels.
                    await line.end()
                }
                // A canceled load is not a failure, but a completed one is a result.
                if isComplete || !isLast { await onResult(index, result) }
                await line.finished(index, isComplete: isComplete)
                if !isLast { addNext() }
            }
        }
        await line.end()
    }
}

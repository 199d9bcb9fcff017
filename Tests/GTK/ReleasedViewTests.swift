#if GTK
    import AlcedoCore
    import AlcedoGTK
    import AlcedoViewBinding
    import Testing

    @Suite(.enabled("needs a display") { @MainActor in TestWindow.isPossible }, .timeLimit(.minutes(3)))
    @MainActor struct ReleasedViewTests {
        /// Never returns an image. A load lasts until it is canceled.
        private struct EndlessLoader: ImageLoading {
            let begun: @Sendable () -> Void

            func cachedImage(for request: ImageRequest) -> DecodedImage? { nil }

            func load(
                _ request: ImageRequest, priority: PriorityHandle, onUpdate: @escaping @Sendable (LoadUpdate) -> Void
            ) async throws -> ImageResponse {
                begun()
                // Ends when it is canceled, for which the test waits.
                try await Task.sleep(for: .seconds(3_600))
                throw CancellationError()
            }
        }

        /// A view and its binder, like an app's cell.
        @MainActor private final class Cell {
            let view = ImageView()
            let binder: ImageBinder

            init(_ loader: any ImageLoading) { binder = ImageBinder(view: view, pipeline: loader) }
        }

        private func request() -> ImageRequest {
            var request = ImageRequest(source: .file("picture"))
            request.decoding.target = TargetSize(width: 10, height: 10)
            return request
        }

        @Test func `a cell released while it loads cancels the load`() async throws {
            let (begun, signal) = AsyncStream.makeStream(of: Void.self)
            var cell: Cell? = Cell(EndlessLoader { signal.yield() })
            var results: [Result<ImageResponse, any Error>] = []
            cell?.binder.load(request()) { results.append($0) }
            let task = try #require(cell?.binder.task)
            for await _ in begun { break }

            cell = nil

            await task.value
            #expect(results.count == 1)
            #expect(throws: CancellationError.self) { try results.first?.get() }
        }

        @Test func `a load without a target waits until the view has a size`() async throws {
            let (begun, signal) = AsyncStream.makeStream(of: Void.self)
            let cell = Cell(EndlessLoader { signal.yield() })
            cell.binder.load(ImageRequest(source: .file("picture")))
            #expect(cell.binder.isLoading)
            #expect(cell.binder.task == nil)

            let window = TestWindow(cell.view.widget)
            window.run { cell.binder.task != nil }

            for await _ in begun { break }
            cell.binder.cancel()
        }
    }
#endif

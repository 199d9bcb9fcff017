import AlcedoCore
import AlcedoHTTP
import AlcedoViewBinding
import FoundationEssentials
import Testing

@Suite(.timeLimit(.minutes(10))) @MainActor struct ImageBinderTests {
    private let loader = FakeLoader()
    private let view = FakeView()
    private let binder: ImageBinder
    private let log = Log()
    private let options = BindingOptions(placeholder: .gray(200), failureImage: .gray(250))

    /// The order in which the completions were called.
    @MainActor final class Log {
        enum Ending: Equatable {
            case image(UInt8)
            case cancelled
            case failed
        }

        private(set) var endings: [Ending] = []

        func callAsFunction(_ result: Result<ImageResponse, any Error>) {
            let ending: Ending =
                switch result {
                case .success(let response): .image(response.image.gray)
                case .failure(is CancellationError): .cancelled
                case .failure: .failed
                }
            endings.append(ending)
        }
    }

    init() { binder = ImageBinder(view: view, pipeline: loader) }

    private func bind(_ image: Int, serial: Int, options: BindingOptions? = nil) -> Task<Void, Never>? {
        binder.load(
            ImageRequest(image: image, serial: serial), options: options ?? self.options, completion: { log($0) })
        return binder.task
    }

    @Test func `a load displays the placeholder, then the image`() async {
        let task = bind(1, serial: 1)
        #expect(view.shown == .placeholder(200))
        #expect(binder.isLoading)

        loader.finish(1, .gray(1))
        await task?.value

        #expect(view.history == [.placeholder(200), .image(1, .network)])
        #expect(log.endings == [.image(1)])
        #expect(!binder.isLoading)
    }

    @Test func `an image in memory is displayed at once, without placeholder or load`() {
        loader.setMemory(.gray(7), for: ImageRequest(image: 1, serial: 0))

        let task = bind(1, serial: 1)

        #expect(task == nil)
        #expect(view.history == [.image(7, .memory)])
        #expect(log.endings == [.image(7)])
        #expect(loader.started.isEmpty)
    }

    @Test func `the late result of an earlier load is not displayed`() async {
        let old = bind(1, serial: 1)
        await loader.start(of: 1)
        let new = bind(2, serial: 2)
        #expect(old?.isCancelled == true)
        #expect(log.endings == [.cancelled])

        loader.finish(2, .gray(2))
        await new?.value
        loader.finish(1, .gray(1))
        await old?.value

        #expect(view.history == [.placeholder(200), .placeholder(200), .image(2, .network)])
        #expect(log.endings == [.cancelled, .image(2)])
    }

    @Test func `two loads of one image are distinguished`() async {
        let old = bind(1, serial: 1)
        await loader.start(of: 1)
        binder.cancel()
        let new = bind(1, serial: 2)

        loader.finish(1, .gray(1))
        await old?.value
        #expect(view.shown == .placeholder(200))
        loader.finish(2, .gray(2))
        await new?.value

        #expect(view.shown == .image(2, .network))
        #expect(log.endings == [.cancelled, .image(2)])
    }

    @Test func `setting the request in flight again joins its load`() async {
        let task = bind(1, serial: 1)
        await loader.start(of: 1)

        _ = bind(1, serial: 2, options: BindingOptions(placeholder: .gray(99)))
        loader.finish(1, .gray(1))
        await task?.value

        #expect(loader.started == [1])
        #expect(loader.lookUps == 1)
        #expect(view.history == [.placeholder(200), .image(1, .network)])
        #expect(log.endings == [.image(1), .image(1)])
    }

    @Test func `a request replaced in the same main-actor turn is not loaded`() async {
        let old = bind(1, serial: 1)
        let new = bind(2, serial: 2)
        loader.finish(2, .gray(2))

        await old?.value
        await new?.value

        #expect(loader.started == [2])
    }

    @Test func `loading a URL displays the image of its request`() throws {
        let url = try #require(URL(string: "http://127.0.0.1/a"))
        loader.setMemory(.gray(7), for: ImageRequest(source: .http(HTTPRequest(url: url))))

        binder.load(url, options: options) { log($0) }

        #expect(view.history == [.image(7, .memory)])
        #expect(log.endings == [.image(7)])
    }

    @Test func `a nil URL cancels, displays the placeholder and reports a cancellation`() async {
        let old = bind(1, serial: 1)
        await loader.start(of: 1)

        binder.load(nil, options: options) { log($0) }
        loader.finish(1, .gray(1))
        await old?.value

        #expect(view.history == [.placeholder(200), .placeholder(200)])
        #expect(log.endings == [.cancelled, .cancelled])
        #expect(!binder.isLoading)
    }

    @Test func `a nil URL clears even an image that is kept while loading`() {
        loader.setMemory(.gray(7), for: ImageRequest(image: 1, serial: 0))
        _ = bind(1, serial: 1)

        binder.load(nil, options: BindingOptions(keepsCurrentImage: true))

        #expect(view.shown == .nothing)
    }

    @Test func `without placeholder the old image is cleared unless it is kept`() {
        loader.setMemory(.gray(7), for: ImageRequest(image: 1, serial: 0))
        _ = bind(1, serial: 1)
        _ = bind(2, serial: 2, options: BindingOptions(keepsCurrentImage: true))
        #expect(view.shown == .image(7, .memory))

        _ = bind(3, serial: 3, options: BindingOptions())

        #expect(view.shown == .nothing)
    }

    @Test(arguments: [false, true])
    func `with a placeholder or a kept image, a failure changes nothing`(hasPlaceholder: Bool) async {
        loader.setMemory(.gray(7), for: ImageRequest(image: 1, serial: 0))
        _ = bind(1, serial: 1)
        let placeholder = hasPlaceholder ? DecodedImage.gray(200) : nil
        // The options for the behavior of AFNetworking.
        let options = BindingOptions(placeholder: placeholder, keepsCurrentImage: placeholder == nil)
        binder.load(ImageRequest(image: 2, serial: 2), options: options)
        let shown = view.shown
        #expect(shown == (hasPlaceholder ? .placeholder(200) : .image(7, .memory)))
        let task = binder.task

        loader.finish(2, .failure(LoadFailure()))
        await task?.value

        #expect(view.shown == shown)
    }

    @Test func `a failure displays the failure image and returns the error`() async {
        var failure: (any Error)?
        binder.load(ImageRequest(image: 1, serial: 1), options: options) { result in
            if case .failure(let error) = result { failure = error }
        }
        let task = binder.task

        loader.finish(1, .failure(LoadFailure()))
        await task?.value

        #expect(view.history == [.placeholder(200), .failure(250)])
        #expect(failure is LoadFailure)
    }

    @Test func `a load canceled elsewhere is not a failure`() async {
        let task = bind(1, serial: 1)

        loader.finish(1, .failure(CancellationError()))
        await task?.value

        #expect(view.history == [.placeholder(200)])
        #expect(log.endings == [.cancelled])
    }

    @Test func `canceling keeps the displayed image`() async {
        let task = bind(1, serial: 1)
        await loader.start(of: 1)

        binder.cancel()
        binder.cancel()
        loader.finish(1, .gray(1))
        await task?.value

        #expect(view.history == [.placeholder(200)])
        #expect(log.endings == [.cancelled])
    }

    @Test func `a released binder cancels its load`() async {
        var binder: ImageBinder? = ImageBinder(view: view, pipeline: loader)
        binder?.load(ImageRequest(image: 1, serial: 1)) { log($0) }
        let task = binder?.task
        await loader.start(of: 1)

        binder = nil

        #expect(task?.isCancelled == true)
        #expect(log.endings == [.cancelled])
        loader.finish(1, .gray(1))
        await task?.value
        #expect(view.history == [.nothing])
    }

    @Test(arguments: [Result.gray(1), .failure(LoadFailure())])
    func `a released view ends its load as canceled`(outcome: FakeLoader.Outcome) async {
        var view: FakeView? = FakeView()
        weak let gone = view
        let binder = view.map { ImageBinder(view: $0, pipeline: loader) }
        binder?.load(ImageRequest(image: 1, serial: 1), options: options) { log($0) }
        let task = binder?.task
        await loader.start(of: 1)

        view = nil
        #expect(gone == nil)
        loader.finish(1, outcome)
        await task?.value

        #expect(log.endings == [.cancelled])
        binder?.load(ImageRequest(image: 2, serial: 2)) { log($0) }
        #expect(log.endings == [.cancelled, .cancelled])
        #expect(binder?.isLoading == false)
        #expect(loader.started == [1])
    }

    @Test func `a released view is detected while bytes arrive`() async {
        var view: FakeView? = FakeView()
        let binder = view.map { ImageBinder(view: $0, pipeline: loader) }
        let task = await withCheckedContinuation { ended in
            binder?.load(ImageRequest(image: 1, serial: 1)) { _ in ended.resume(returning: binder?.task) }
            let task = binder?.task
            Task {
                await loader.start(of: 1)
                loader.report(1, .received(1))
                #expect(task?.isCancelled == false)
                view = nil
                loader.report(1, .received(1))
            }
        }

        #expect(task == nil)
        #expect(binder?.isLoading == false)
        loader.finish(1, .gray(1))
    }

    @Test func `a completion may bind again`() async {
        let old = bind(1, serial: 1)
        await loader.start(of: 1)
        loader.setMemory(.gray(3), for: ImageRequest(image: 3, serial: 0))
        binder.load(nil)
        binder.load(ImageRequest(image: 2, serial: 2), options: options) { [binder, log] in
            log($0)
            binder.load(ImageRequest(image: 3, serial: 3)) { log($0) }
        }

        binder.load(ImageRequest(image: 4, serial: 4), options: options)

        #expect(view.shown == .image(3, .memory))
        #expect(log.endings == [.cancelled, .cancelled, .image(3)])
        #expect(!binder.isLoading)
        loader.finish(1, .gray(1))
        await old?.value
    }

    @Test func `a view may cancel while it displays the placeholder`() async {
        view.onDisplay = { [binder] in binder.cancel() }

        let task = bind(1, serial: 1)

        #expect(task == nil)
        #expect(log.endings == [.cancelled])
        #expect(loader.started.isEmpty)
    }
}

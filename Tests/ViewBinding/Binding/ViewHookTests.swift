import AlcedoCore
import AlcedoProcessing
import AlcedoViewBinding
import Testing

/// What a view and its owner can observe and decide besides displaying images.
@Suite(.timeLimit(.minutes(10))) @MainActor struct ViewHookTests {
    private let loader = FakeLoader()
    private let view = FakeView()
    private let binder: ImageBinder
    private let target = TargetSize(width: 30, height: 20, mode: .fill)

    /// A view with the minimal implementation.
    private final class BareView: ImageDisplaying {
        private(set) var count = 0

        func display(_ content: DisplayContent) { count += 1 }
    }

    init() { binder = ImageBinder(view: view, pipeline: loader) }

    private func bind(_ image: Int, options: BindingOptions = BindingOptions()) -> Task<Void, Never>? {
        binder.load(ImageRequest(image: image, serial: image), options: options)
        return binder.task
    }

    // MARK: Size

    @Test func `the image is resized to the view's size before its processors`() async {
        view.displaySize = .target(target)

        let task = bind(1)
        loader.finish(1, .gray(1))
        await task?.value

        let resize: ImageProcessors.BuiltIn = .resize(filling: target.size)
        #expect(loader.requests.first?.decoding.target == nil)
        #expect(loader.requests.first?.processors.map(\.identifier) == [resize.identifier])
        #expect(loader.requests.first?.viewTarget == target)
    }

    @Test func `a request's own size is kept, and sizing can be disabled`() async {
        view.displaySize = .target(target)
        let own = TargetSize(width: 5, height: 5)
        var request = ImageRequest(image: 1, serial: 1)
        request.decoding.target = own
        binder.load(request)
        let first = binder.task
        loader.finish(1, .gray(1))
        await first?.value

        let second = bind(2, options: BindingOptions(usesViewSize: false))
        loader.finish(2, .gray(2))
        await second?.value

        request = ImageRequest(image: 3, serial: 3)
        request.processors = [.resize(width: 9)]
        binder.load(request)
        let third = binder.task
        loader.finish(3, .gray(3))
        await third?.value

        #expect(loader.requests.map(\.decoding.target) == [own, nil, nil])
        #expect(loader.requests.map(\.processors.count) == [0, 0, 1])
        #expect(loader.requests.allSatisfy { $0.viewTarget == nil })
    }

    @Test(arguments: [
        DisplaySize.pending, .target(TargetSize(width: 0, height: 20)),
        .target(TargetSize(width: 20, height: -1)),
    ])
    func `a load waits until the view has a size`(size: DisplaySize) async {
        view.displaySize = size
        var endings = 0
        binder.load(
            ImageRequest(image: 1, serial: 1), options: BindingOptions(placeholder: .gray(200))
        ) { _ in endings += 1 }
        #expect(binder.isLoading)
        #expect(binder.task == nil)
        binder.viewSizeChanged()
        #expect(loader.lookUps == 0)

        view.displaySize = .target(target)
        binder.viewSizeChanged()
        let task = binder.task
        loader.finish(1, .gray(1))
        await task?.value
        binder.viewSizeChanged()

        #expect(loader.requests.map(\.viewTarget) == [target])
        #expect(view.history == [.placeholder(200), .image(1, .network)])
        #expect(endings == 1)
        #expect(!binder.isLoading)
    }

    @Test func `an image in memory is displayed as soon as the view has a size`() {
        loader.setMemory(.gray(7), for: ImageRequest(image: 1, serial: 0))
        view.displaySize = .pending
        _ = bind(1)
        #expect(view.history == [.nothing])

        view.displaySize = .target(target)
        // The binder has installed the handler.
        view.onSizeChange?()

        #expect(view.history == [.nothing, .image(7, .memory)])
        #expect(!binder.isLoading)
    }

    @Test func `a load that waits for a size without changing the view is active`() {
        view.displaySize = .pending
        binder.load(ImageRequest(image: 1, serial: 1), options: BindingOptions(keepsCurrentImage: true))
        #expect(view.history.isEmpty)
        #expect(view.activity == [true])

        binder.cancel()
        #expect(view.activity == [true, false])
    }

    @Test func `a load that waits for a size can be joined, replaced and canceled`() {
        view.displaySize = .pending
        var endings: [Int] = []
        binder.load(ImageRequest(image: 1, serial: 1)) { _ in endings.append(1) }
        binder.load(ImageRequest(image: 1, serial: 2)) { _ in endings.append(2) }
        #expect(endings.isEmpty)
        binder.load(ImageRequest(image: 3, serial: 3)) { _ in endings.append(3) }
        #expect(endings == [1, 2])

        binder.cancel()
        view.displaySize = .target(target)
        binder.viewSizeChanged()

        #expect(endings == [1, 2, 3])
        #expect(binder.task == nil)
    }

    @Test func `an enlarged view loads a larger image when it is bound again`() async {
        view.displaySize = .target(TargetSize(width: 10, height: 10))
        _ = bind(1)
        await loader.start(of: 1)
        view.displaySize = .target(target)
        binder.viewSizeChanged()

        binder.load(ImageRequest(image: 1, serial: 2))
        await loader.start(of: 2)

        // The change of the size began no load.
        #expect(loader.started == [1, 2])
        #expect(loader.requests.last?.viewTarget == target)
        loader.finish(1, .gray(1))
        loader.finish(2, .gray(2))
    }

    // MARK: Transition, activity, progress

    @Test func `only an image that was not in memory is displayed with a transition`() async {
        loader.setMemory(.gray(7), for: ImageRequest(image: 1, serial: 0))
        _ = bind(1)
        let second = bind(2, options: BindingOptions(placeholder: .gray(200), failureImage: .gray(250)))
        loader.finish(2, .failure(LoadFailure()))
        await second?.value
        let third = bind(3)
        loader.finish(3, .gray(3))
        await third?.value
        let fourth = bind(4, options: BindingOptions(usesTransition: false))
        loader.finish(4, .gray(4))
        await fourth?.value
        // In memory by the time the load began.
        let fifth = bind(5)
        loader.finish(5, .success(ImageResponse(image: .gray(5), layer: .memory)))
        await fifth?.value

        #expect(view.transitions == [.image(3, .network)])
        #expect(view.shown == .image(5, .memory))
    }

    @Test func `activity is reported when it begins and ends`() async {
        loader.setMemory(.gray(7), for: ImageRequest(image: 1, serial: 0))
        _ = bind(1)
        #expect(view.activity.isEmpty)

        _ = bind(2)
        let third = bind(3)
        #expect(view.activity == [true])
        loader.finish(3, .gray(3))
        await third?.value
        #expect(view.activity == [true, false])

        let fourth = bind(4)
        loader.finish(4, .failure(LoadFailure()))
        await fourth?.value
        _ = bind(5)
        binder.cancel()
        _ = bind(6)
        _ = bind(1)
        _ = bind(7)
        binder.load(nil)

        #expect(view.activity == [true, false, true, false, true, false, true, false, true, false])
    }

    @Test func `progress of the current load only is reported to view and options`() async {
        var told: [Int] = []
        let options = BindingOptions(onProgress: { told.append($0.received) })
        let first = bind(1, options: options)
        await loader.start(of: 1)
        loader.report(1, .received(10))
        await nextTurn()
        loader.report(1, .received(20))
        loader.report(1, .received(30))
        await nextTurn()

        let second = bind(2, options: options)
        await loader.start(of: 2)
        loader.report(1, .received(40))
        loader.report(2, .received(5))
        await nextTurn()

        #expect(view.progress == [10, 30, 0, 5])
        #expect(told == [10, 30, 5])
        loader.finish(1, .gray(1))
        loader.finish(2, .gray(2))
        await first?.value
        await second?.value
    }

    @Test func `a load that replaces one with progress resets the progress once`() async {
        _ = bind(1)
        await loader.start(of: 1)
        loader.report(1, .received(10))
        await nextTurn()

        _ = bind(2)
        let third = bind(3)

        #expect(view.progress == [10, 0])
        loader.finish(1, .gray(1))
        loader.finish(3, .gray(3))
        await third?.value
    }

    @Test func `a closure can be a view`() async {
        let view = BareView()
        let binder = ImageBinder(view: view, pipeline: loader)

        binder.load(ImageRequest(image: 1, serial: 1))
        let task = binder.task
        await loader.start(of: 1)
        loader.report(1, .received(10))
        loader.finish(1, .gray(1))
        await task?.value

        #expect(view.count == 2)
    }

    // MARK: Custom display of the image

    @Test func `a handler that takes the image displays it instead of the view`() async {
        loader.setMemory(.gray(7), for: ImageRequest(image: 1, serial: 0))
        var taken: [UInt8] = []
        let options = BindingOptions(placeholder: .gray(200), onImage: { taken.append($0.image.gray) })

        _ = bind(1, options: options)
        #expect(taken == [7])
        let task = bind(2, options: options)
        loader.finish(2, .gray(2))
        await task?.value

        #expect(taken == [7, 2])
        #expect(view.history == [.placeholder(200)])
    }

    @Test func `the image of a replaced request is not delivered`() async {
        var taken: [UInt8] = []
        let task = bind(1, options: BindingOptions(onImage: { taken.append($0.image.gray) }))
        await loader.start(of: 1)
        _ = bind(2)

        loader.finish(1, .gray(1))
        await task?.value

        #expect(taken.isEmpty)
    }

    // MARK: Priority, retry

    @Test func `changing the priority changes that of the load`() async {
        let options = BindingOptions(lowResolution: ImageRequest(image: 51, serial: 51))
        var request = ImageRequest(image: 1, serial: 1)
        request.priority = .high
        binder.load(request, options: options)
        await loader.start(of: 1)
        await loader.start(of: 51)
        #expect(loader.priority(of: 1) == .high)

        binder.setPriority(.veryLow)

        #expect(loader.priority(of: 1) == .veryLow)
        #expect(loader.priority(of: 51) == .veryLow)
        loader.finish(1, .gray(1))
        loader.finish(51, .gray(51))
    }

    @Test func `a failed load can be retried unchanged`() async {
        let options = BindingOptions(placeholder: .gray(200), failureImage: .gray(250))
        let failing = bind(1, options: options)
        #expect(!binder.retry())
        loader.finish(1, .failure(LoadFailure()))
        await failing?.value
        #expect(view.shown == .failure(250))

        var endings = 0
        #expect(binder.retry { _ in endings += 1 })
        #expect(!binder.retry())
        let task = binder.task
        loader.finish(1, .gray(1))
        await task?.value

        #expect(
            view.history == [.placeholder(200), .failure(250), .placeholder(200), .image(1, .network)])
        #expect(endings == 1)
        #expect(!binder.retry())
    }

    @Test func `a replaced or cleared request is not retried`() async {
        let first = bind(1)
        loader.finish(1, .failure(LoadFailure()))
        await first?.value
        binder.load(nil)
        #expect(!binder.retry())

        let second = bind(2)
        await loader.start(of: 2)
        loader.setMemory(.gray(7), for: ImageRequest(image: 3, serial: 0))
        _ = bind(3)
        loader.finish(2, .failure(LoadFailure()))
        await second?.value

        #expect(!binder.retry())
        #expect(view.shown == .image(7, .memory))
    }

    @Test func `a retry loads nothing once the view is released`() async {
        var view: FakeView? = FakeView()
        let binder = view.map { ImageBinder(view: $0, pipeline: loader) }
        binder?.load(ImageRequest(image: 1, serial: 1))
        let task = binder?.task
        loader.finish(1, .failure(LoadFailure()))
        await task?.value

        view = nil

        var endings = 0
        #expect(binder?.retry { _ in endings += 1 } == false)
        #expect(endings == 0)
        #expect(binder?.isLoading == false)
        #expect(loader.started == [1])
    }

    @Test func `a thousand requests in one main-actor turn cause one load`() async {
        for image in 1...1_000 { _ = bind(image) }
        let task = binder.task
        loader.finish(1_000, .gray(1))
        await task?.value

        #expect(loader.started == [1_000])
        #expect(view.shown == .image(1, .network))
    }
}

import AlcedoCore
import AlcedoViewBinding
import Testing

/// The images of one load in every order of arrival.
@Suite(.timeLimit(.minutes(10))) @MainActor struct ImageOrderTests {
    private let loader = FakeLoader()
    private let view = FakeView()
    private let binder: ImageBinder
    private let low = BindingOptions(
        placeholder: .gray(200), lowResolution: ImageRequest(image: 51, serial: 51))

    init() { binder = ImageBinder(view: view, pipeline: loader) }

    private func bind(_ image: Int, showsCachedFirst: Bool = false, options: BindingOptions) -> Task<Void, Never>? {
        var request = ImageRequest(image: image, serial: image)
        request.showsCachedFirst = showsCachedFirst
        binder.load(request, options: options)
        return binder.task
    }

    @Test func `the low-resolution image is displayed until the image arrives`() async {
        let task = bind(1, options: low)
        let lowTask = binder.lowResolutionTask
        loader.finish(51, .gray(51))
        await lowTask?.value
        loader.finish(1, .gray(1))
        await task?.value

        #expect(view.history == [.placeholder(200), .preview(51), .image(1, .network)])
    }

    @Test func `a low-resolution image in memory is displayed at once instead of the placeholder`() async {
        loader.setMemory(.gray(51), for: ImageRequest(image: 51, serial: 0))

        let task = bind(1, options: low)

        #expect(view.history == [.preview(51)])
        #expect(binder.lowResolutionTask == nil)
        loader.finish(1, .gray(1))
        await task?.value
        #expect(view.history == [.preview(51), .image(1, .network)])
        #expect(loader.started == [1])
    }

    @Test func `a low-resolution image that arrives last is not displayed`() async {
        let task = bind(1, options: low)
        let lowTask = binder.lowResolutionTask
        await loader.start(of: 51)
        loader.finish(1, .gray(1))
        await task?.value
        #expect(lowTask?.isCancelled == true)

        loader.finish(51, .gray(51))
        await lowTask?.value

        #expect(view.history == [.placeholder(200), .image(1, .network)])
    }

    @Test func `a low-resolution image of an earlier request is not displayed`() async {
        let task = bind(1, options: low)
        let lowTask = binder.lowResolutionTask
        await loader.start(of: 51)
        _ = bind(2, options: BindingOptions())
        #expect(lowTask?.isCancelled == true)

        loader.finish(51, .gray(51))
        loader.finish(1, .gray(1))
        await lowTask?.value
        await task?.value

        #expect(view.history == [.placeholder(200), .nothing])
    }

    @Test func `a failed low-resolution image changes nothing`() async {
        let task = bind(1, options: low)
        let lowTask = binder.lowResolutionTask

        loader.finish(51, .failure(LoadFailure()))
        await lowTask?.value
        #expect(binder.isLoading)
        loader.finish(1, .gray(1))
        await task?.value

        #expect(view.history == [.placeholder(200), .image(1, .network)])
    }

    @Test func `a low-resolution image stays after the image fails`() async {
        let task = bind(1, options: low)
        let lowTask = binder.lowResolutionTask
        loader.finish(51, .gray(51))
        await lowTask?.value

        loader.finish(1, .failure(LoadFailure()))
        await task?.value

        #expect(view.history == [.placeholder(200), .preview(51)])
    }

    @Test func `previews are displayed as they arrive, and only the last of simultaneous ones`() async {
        let task = bind(1, options: BindingOptions())
        await loader.start(of: 1)
        loader.report(1, .preview(101))
        await nextTurn()
        loader.report(1, .preview(102))
        loader.report(1, .preview(103))
        await nextTurn()
        loader.finish(1, .gray(1))
        await task?.value

        #expect(view.history == [.nothing, .preview(101), .preview(103), .image(1, .network)])
        #expect(view.transitions == [.image(1, .network)])
    }

    @Test func `a preview does not replace the low-resolution image`() async {
        loader.setMemory(.gray(51), for: ImageRequest(image: 51, serial: 0))
        let task = bind(1, options: low)
        await loader.start(of: 1)

        loader.report(1, .preview(101))
        await nextTurn()

        #expect(view.history == [.preview(51)])
        loader.finish(1, .gray(1))
        await task?.value
    }

    @Test func `a late preview of an earlier request is not displayed`() async {
        let task = bind(1, options: BindingOptions())
        await loader.start(of: 1)
        // In the main actor's queue when the view is bound again.
        loader.report(1, .preview(101))
        _ = bind(2, options: BindingOptions())
        await nextTurn()
        loader.report(1, .preview(102))
        loader.report(1, .cached(103))
        await nextTurn()

        #expect(view.history == [.nothing, .nothing])
        loader.finish(1, .gray(1))
        await task?.value
        #expect(view.history == [.nothing, .nothing])
    }

    @Test func `a partial image of a failed load is cleared`() async {
        let task = bind(1, options: BindingOptions(placeholder: .gray(200)))
        await loader.start(of: 1)
        loader.report(1, .preview(101))
        await nextTurn()

        loader.finish(1, .failure(LoadFailure()))
        await task?.value

        #expect(view.history == [.placeholder(200), .preview(101), .placeholder(200)])
    }

    @Test func `the cached image is displayed first, then the source's`() async {
        let task = bind(1, showsCachedFirst: true, options: low)
        await loader.start(of: 1)
        loader.report(1, .cached(151))
        await nextTurn()
        #expect(binder.isLoading)

        loader.finish(1, .gray(1))
        await task?.value
        loader.finish(51, .gray(51))

        #expect(view.history == [.placeholder(200), .image(151, .disk), .image(1, .network)])
        #expect(view.transitions == [.image(151, .disk), .image(1, .network)])
    }

    @Test func `an image in memory is displayed at once and still refreshed`() async {
        let image = DecodedImage.gray(7)
        loader.setMemory(image, for: ImageRequest(image: 1, serial: 0))

        let task = bind(1, showsCachedFirst: true, options: BindingOptions(placeholder: .gray(200)))
        #expect(view.history == [.image(7, .memory)])
        #expect(binder.isLoading)
        await loader.start(of: 1)
        // The same image again, as the pipeline reports it.
        loader.report(1, .cached(ImageResponse(image: image, layer: .memory)))
        await nextTurn()
        loader.finish(1, .gray(1))
        await task?.value

        #expect(view.history == [.image(7, .memory), .image(1, .network)])
    }

    @Test func `an unchanged image is not set again`() async {
        let image = DecodedImage.gray(7)
        loader.setMemory(image, for: ImageRequest(image: 1, serial: 0))
        var endings = 0
        var request = ImageRequest(image: 1, serial: 1)
        request.showsCachedFirst = true
        binder.load(request) { _ in endings += 1 }
        let task = binder.task
        #expect(endings == 0)

        loader.finish(1, .success(ImageResponse(image: image, layer: .memory)))
        await task?.value

        #expect(view.history == [.image(7, .memory)])
        #expect(endings == 1)
    }

    @Test func `without network access nothing is refreshed`() {
        loader.setMemory(.gray(7), for: ImageRequest(image: 1, serial: 0))
        var request = ImageRequest(image: 1, serial: 1)
        request.showsCachedFirst = true
        request.cachePolicy.allowsNetwork = false

        binder.load(request)

        #expect(view.history == [.image(7, .memory)])
        #expect(!binder.isLoading)
    }

    @Test func `a cached image stays after a failed refresh`() async {
        let task = bind(1, showsCachedFirst: true, options: BindingOptions(failureImage: .gray(250)))
        await loader.start(of: 1)
        loader.report(1, .cached(151))
        await nextTurn()

        loader.finish(1, .failure(LoadFailure()))
        await task?.value

        #expect(view.shown == .image(151, .disk))
    }
}

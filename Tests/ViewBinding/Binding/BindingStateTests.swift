import AlcedoCore
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoViewBinding

@Suite struct BindingStateTests {
    private let a = LoadIdentity(ImageRequest(image: 1, serial: 0))
    private let b = LoadIdentity(ImageRequest(image: 2, serial: 0))
    private let plain = BindingState.Placeholders()
    private let full = BindingState.Placeholders(hasPlaceholder: true, hasFailureImage: true, keepsCurrentImage: false)
    private let low = BindingState.Placeholders(hasPlaceholder: true, hasLowResolution: true)
    private let keeping = BindingState.Placeholders(keepsCurrentImage: true)
    private let first = Receipt(number: 1)
    private let second = Receipt(number: 2)
    private var state = BindingState()

    @Test mutating func `a first request is looked up in memory`() {
        #expect(state.bind(a, placeholders: plain) == .begin(first, abandoned: nil))
        #expect(state.activeReceipt == first)
    }

    @Test mutating func `a memory hit shows the image and leaves nothing active`() {
        _ = state.bind(a, placeholders: full)

        #expect(state.lookedUp(first, .image(isRefreshed: false)) == [.show(.image), .report(first)])
        #expect(state.activeReceipt == nil)
    }

    @Test mutating func `a miss shows the placeholder, then starts the load`() {
        _ = state.bind(a, placeholders: full)

        #expect(state.lookedUp(first, .nothing) == [.show(.placeholder), .startLoad(first)])
    }

    @Test mutating func `a miss without placeholder clears the view, or keeps it when asked to`() {
        _ = state.bind(a, placeholders: plain)
        #expect(state.lookedUp(first, .nothing) == [.show(.nothing), .startLoad(first)])

        _ = state.bind(b, placeholders: keeping)
        #expect(state.lookedUp(second, .nothing) == [.startLoad(second)])
    }

    @Test mutating func `the request in flight is joined`() {
        _ = state.bind(a, placeholders: plain)

        #expect(state.bind(a, placeholders: full) == .join(first))
    }

    @Test mutating func `another request abandons the one in flight`() {
        _ = state.bind(a, placeholders: plain)

        #expect(state.bind(b, placeholders: plain) == .begin(second, abandoned: first))
    }

    @Test mutating func `the same request again after its end is a new load`() {
        _ = state.bind(a, placeholders: plain)
        _ = state.finish(first, .image(isNew: true))

        #expect(state.bind(a, placeholders: plain) == .begin(second, abandoned: nil))
    }

    @Test mutating func `going back to a request does not revive its first load`() {
        _ = state.bind(a, placeholders: plain)
        _ = state.bind(b, placeholders: plain)
        let third = Receipt(number: 3)
        #expect(state.bind(a, placeholders: plain) == .begin(third, abandoned: second))

        #expect(state.finish(first, .image(isNew: true)) == [])
        #expect(state.finish(second, .image(isNew: true)) == [])
        #expect(state.finish(third, .image(isNew: true)) == [.show(.image), .report(third)])
    }

    @Test mutating func `events of an abandoned load change nothing`() {
        _ = state.bind(a, placeholders: full)
        #expect(state.cancel() == first)

        #expect(state.lookedUp(first, .image(isRefreshed: false)) == [])
        #expect(state.waitForSize(first) == [])
        #expect(state.received(first, .cached) == [])
        #expect(state.finish(first, .failure) == [])
        #expect(state.cancel() == nil)
    }

    @Test mutating func `a failure shows the failure image, or leaves the placeholder`() {
        _ = state.bind(a, placeholders: full)
        #expect(state.finish(first, .failure) == [.show(.failureImage), .report(first)])

        _ = state.bind(a, placeholders: BindingState.Placeholders(hasPlaceholder: true, keepsCurrentImage: true))
        _ = state.lookedUp(second, .nothing)
        #expect(state.finish(second, .failure) == [.report(second)])
    }

    @Test mutating func `a failure clears a picture that was kept`() {
        _ = state.bind(a, placeholders: keeping)

        #expect(state.finish(first, .failure) == [.show(.nothing), .report(first)])
    }

    @Test mutating func `a load cancelled below shows no failure`() {
        _ = state.bind(a, placeholders: full)

        #expect(state.finish(first, .cancelled) == [.report(first)])
    }

    @Test mutating func `a load that waits for the view's size shows the placeholder once`() {
        _ = state.bind(a, placeholders: full)
        #expect(state.waitForSize(first) == [.show(.placeholder)])

        #expect(state.sizeIsKnown(b) == first)
        #expect(state.lookedUp(first, .nothing) == [.startLoad(first)])
        #expect(state.sizeIsKnown(b) == nil)
        #expect(state.bind(b, placeholders: full) == .join(first))
    }

    @Test mutating func `a low-resolution picture in memory stands in for the placeholder`() {
        _ = state.bind(a, placeholders: low)

        #expect(state.lookedUp(first, .lowResolution) == [.show(.lowResolution), .startLoad(first)])
    }

    @Test mutating func `what is shown of a load never becomes less`() {
        _ = state.bind(a, placeholders: low)
        #expect(
            state.lookedUp(first, .nothing) == [.show(.placeholder), .startLowResolution(first), .startLoad(first)])

        #expect(state.received(first, .preview) == [.show(.preview)])
        #expect(state.received(first, .preview) == [.show(.preview)])
        #expect(state.received(first, .lowResolution) == [.show(.lowResolution)])
        #expect(state.received(first, .preview) == [])
        #expect(state.received(first, .cached) == [.show(.image)])
        #expect(state.received(first, .lowResolution) == [])
        #expect(state.received(first, .preview) == [])
        #expect(state.finish(first, .image(isNew: true)) == [.show(.image), .report(first)])
    }

    @Test mutating func `an image that the view shows already is not set again`() {
        _ = state.bind(a, placeholders: plain)
        #expect(state.lookedUp(first, .image(isRefreshed: true)) == [.show(.image), .startLoad(first)])

        #expect(state.finish(first, .image(isNew: false)) == [.report(first)])
    }

    @Test(arguments: [
        (BindingState.Update.preview, true, BindingState.Slot?.some(.failureImage)), (.preview, false, .placeholder),
        (.lowResolution, true, .failureImage), (.lowResolution, false, nil), (.cached, true, nil),
    ])
    mutating func `a failure leaves a whole picture of the request, and no part of one`(
        update: BindingState.Update, hasFailureImage: Bool, slot: BindingState.Slot?
    ) {
        let placeholders = BindingState.Placeholders(
            hasPlaceholder: true, hasFailureImage: hasFailureImage, hasLowResolution: true)
        _ = state.bind(a, placeholders: placeholders)
        _ = state.lookedUp(first, .nothing)
        _ = state.received(first, update)

        let actions = state.finish(first, .failure)

        #expect(actions == (slot.map { [.show($0)] } ?? []) + [.report(first)])
    }

    @Test func `a request is the same load only with the same key, source and cache policy`() throws {
        var request = ImageRequest(image: 1, serial: 0)
        request.resource = ResourceKey("name")
        var otherSource = ImageRequest(image: 2, serial: 0)
        otherSource.resource = ResourceKey("name")
        var reload = request
        reload.cachePolicy = .reload
        var variant = request
        variant.additionalIdentifier = "round"
        var otherSerial = request
        otherSerial.userInfo = [:]

        let identity = LoadIdentity(request)

        #expect(identity == LoadIdentity(otherSerial))
        #expect(identity != LoadIdentity(otherSource))
        #expect(identity != LoadIdentity(reload))
        #expect(identity != LoadIdentity(variant))
    }

    @Test func `a request for a file that has been edited is another load`() throws {
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(path: "picture")
        try Data([1]).write(to: file)
        let request = ImageRequest(source: .file(file.path))
        let identity = LoadIdentity(request)
        #expect(identity == LoadIdentity(request))

        try Data([1, 2]).write(to: file)

        #expect(identity != LoadIdentity(request))
    }
}

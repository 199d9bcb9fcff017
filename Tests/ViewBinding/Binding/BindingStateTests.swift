import AlcedoCore
import AlcedoHTTP
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

    @Test mutating func `a memory hit displays the image and leaves no active load`() {
        _ = state.bind(a, placeholders: full)

        #expect(state.lookedUp(first, .image(isRefreshed: false)) == [.show(.image), .report(first)])
        #expect(state.activeReceipt == nil)
    }

    @Test mutating func `a miss displays the placeholder, then starts the load`() {
        _ = state.bind(a, placeholders: full)

        #expect(state.lookedUp(first, .nothing) == [.show(.placeholder), .startLoad(first)])
    }

    @Test mutating func `a miss without placeholder clears the view or keeps it on request`() {
        _ = state.bind(a, placeholders: plain)
        #expect(state.lookedUp(first, .nothing) == [.show(.nothing), .startLoad(first)])

        _ = state.bind(b, placeholders: keeping)
        #expect(state.lookedUp(second, .nothing) == [.startLoad(second)])
    }

    @Test mutating func `a request equal to the one in flight joins it`() {
        _ = state.bind(a, placeholders: plain)

        #expect(state.bind(a, placeholders: full) == .join(first))
    }

    @Test mutating func `a different request cancels the one in flight`() {
        _ = state.bind(a, placeholders: plain)

        #expect(state.bind(b, placeholders: plain) == .begin(second, abandoned: first))
    }

    @Test mutating func `the same request after its end starts a new load`() {
        _ = state.bind(a, placeholders: plain)
        _ = state.finish(first, .image(isNew: true))

        #expect(state.bind(a, placeholders: plain) == .begin(second, abandoned: nil))
    }

    @Test mutating func `returning to a request does not resume its first load`() {
        _ = state.bind(a, placeholders: plain)
        _ = state.bind(b, placeholders: plain)
        let third = Receipt(number: 3)
        #expect(state.bind(a, placeholders: plain) == .begin(third, abandoned: second))

        #expect(state.finish(first, .image(isNew: true)) == [])
        #expect(state.finish(second, .image(isNew: true)) == [])
        #expect(state.finish(third, .image(isNew: true)) == [.show(.image), .report(third)])
    }

    @Test mutating func `events of a canceled load change nothing`() {
        _ = state.bind(a, placeholders: full)
        #expect(state.cancel() == first)

        #expect(state.lookedUp(first, .image(isRefreshed: false)) == [])
        #expect(state.waitForSize(first) == [])
        #expect(state.received(first, .cached) == [])
        #expect(state.finish(first, .failure) == [])
        #expect(state.cancel() == nil)
    }

    @Test mutating func `a failure displays the failure image or keeps the placeholder`() {
        _ = state.bind(a, placeholders: full)
        #expect(state.finish(first, .failure) == [.show(.failureImage), .report(first)])

        _ = state.bind(a, placeholders: BindingState.Placeholders(hasPlaceholder: true, keepsCurrentImage: true))
        _ = state.lookedUp(second, .nothing)
        #expect(state.finish(second, .failure) == [.report(second)])
    }

    @Test mutating func `an image that is kept replaces the placeholder and stays after a failure`() {
        let options = BindingState.Placeholders(hasPlaceholder: true, keepsCurrentImage: true)
        _ = state.bind(a, placeholders: options)
        #expect(state.lookedUp(first, .nothing) == [.show(.placeholder), .startLoad(first)])
        #expect(state.finish(first, .image(isNew: true)) == [.show(.image), .report(first)])

        _ = state.bind(b, placeholders: options)
        #expect(state.lookedUp(second, .nothing) == [.startLoad(second)])
        #expect(state.finish(second, .failure) == [.report(second)])

        _ = state.bind(a, placeholders: full)
        let third = Receipt(number: 3)
        #expect(state.finish(third, .failure) == [.show(.failureImage), .report(third)])
    }

    @Test(arguments: [BindingState.Slot.nothing, .placeholder, .failureImage, .image])
    mutating func `with a kept image, a placeholder appears only in an empty view`(content: BindingState.Slot) {
        let options = BindingState.Placeholders(hasPlaceholder: true, keepsCurrentImage: true)
        switch content {
        case .placeholder: state.clear(full)
        case .failureImage, .image:
            _ = state.bind(a, placeholders: full)
            _ = state.finish(first, content == .image ? .image(isNew: true) : .failure)
        case .nothing, .preview, .lowResolution: state.clear(plain)
        }
        guard case .begin(let receipt, abandoned: nil) = state.bind(b, placeholders: options) else {
            Issue.record("the load did not begin")
            return
        }

        let beginning = state.lookedUp(receipt, .nothing)
        let end = state.finish(receipt, .failure)

        #expect(beginning == (content == .nothing ? [.show(.placeholder)] : []) + [.startLoad(receipt)])
        #expect(end == [.report(receipt)])
    }

    @Test mutating func `a failure image replaces an image that was kept, and a preview is not kept`() {
        _ = state.bind(a, placeholders: plain)
        _ = state.finish(first, .image(isNew: true))
        _ = state.bind(b, placeholders: BindingState.Placeholders(hasFailureImage: true, keepsCurrentImage: true))
        #expect(state.finish(second, .failure) == [.show(.failureImage), .report(second)])

        _ = state.bind(a, placeholders: keeping)
        let third = Receipt(number: 3)
        #expect(state.received(third, .preview) == [.show(.preview)])
        #expect(state.finish(third, .failure) == [.show(.nothing), .report(third)])
    }

    @Test mutating func `a load canceled by the pipeline displays no failure`() {
        _ = state.bind(a, placeholders: full)

        #expect(state.finish(first, .cancelled) == [.report(first)])
    }

    @Test mutating func `a load that waits for the view's size displays the placeholder once`() {
        _ = state.bind(a, placeholders: full)
        #expect(state.waitForSize(first) == [.show(.placeholder)])

        #expect(state.sizeIsKnown(b) == first)
        #expect(state.lookedUp(first, .nothing) == [.startLoad(first)])
        #expect(state.sizeIsKnown(b) == nil)
        #expect(state.bind(b, placeholders: full) == .join(first))
    }

    @Test mutating func `a low-resolution image in memory replaces the placeholder`() {
        _ = state.bind(a, placeholders: low)

        #expect(state.lookedUp(first, .lowResolution) == [.show(.lowResolution), .startLoad(first)])
    }

    @Test mutating func `the displayed quality of a load never decreases`() {
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

    @Test mutating func `an image that the view already displays is not set again`() {
        _ = state.bind(a, placeholders: plain)
        #expect(state.lookedUp(first, .image(isRefreshed: true)) == [.show(.image), .startLoad(first)])

        #expect(state.finish(first, .image(isNew: false)) == [.report(first)])
    }

    @Test(arguments: [
        (BindingState.Update.preview, true, BindingState.Slot?.some(.failureImage)), (.preview, false, .placeholder),
        (.lowResolution, true, .failureImage), (.lowResolution, false, nil), (.cached, true, nil),
    ])
    mutating func `a failure keeps a complete image of the request and no partial one`(
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

    @Test func `requests share a load only with equal key, source and cache policy`() throws {
        var request = ImageRequest(image: 1, serial: 0)
        request.resource = ResourceKey("name")
        var otherSource = ImageRequest(image: 2, serial: 0)
        otherSource.resource = ResourceKey("name")
        var reload = request
        reload.cachePolicy = .reload
        var variant = request
        variant.additionalIdentifier = "round"
        var otherSerial = request
        otherSerial.userInfo = ImageRequest.UserInfo()

        let identity = LoadIdentity(request)

        #expect(identity == LoadIdentity(otherSerial))
        #expect(identity != LoadIdentity(otherSource))
        #expect(identity != LoadIdentity(reload))
        #expect(identity != LoadIdentity(variant))
    }

    @Test func `a request with another modifier is another load, unless an identifier names what it selects`() {
        var alice = ImageRequest(image: 1, serial: 0)
        alice.modifyRequest = { $0.fields["Authorization"] = "alice" }
        var bob = ImageRequest(image: 1, serial: 0)
        bob.modifyRequest = { $0.fields["Authorization"] = "bob" }
        #expect(LoadIdentity(alice) == LoadIdentity(alice))
        #expect(LoadIdentity(alice) != LoadIdentity(bob))
        (alice.additionalIdentifier, bob.additionalIdentifier) = ("team", "team")
        #expect(LoadIdentity(alice) == LoadIdentity(bob))
        bob.additionalIdentifier = "bob"
        #expect(LoadIdentity(alice) != LoadIdentity(bob))
    }

    @Test func `a request for a modified file is another load`() throws {
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

import AlcedoCore
import AlcedoViewBinding

/// The expected content of a view by the rules alone, without receipts, tasks and states.
///
/// Images are distinguished by their gray value: the image of request *n* is *n*, its low-resolution image 50 + *n*,
/// its preview 100 + *n*, and its cached image 150 + *n*.
struct ReuseModel {
    static let placeholder: UInt8 = 240
    static let failure: UInt8 = 250

    /// A random request with its options.
    struct Draw {
        var image: Int
        var serial: Int
        var hasPlaceholder: Bool
        var hasFailureImage: Bool
        var keepsCurrentImage: Bool
        var hasLowResolution: Bool
        var showsCachedFirst: Bool
        var isTaken: Bool
    }

    private enum Rank: Int {
        case another, standIn, preview, low, image
    }

    private struct Requested {
        var draw: Draw
        var size: DisplaySize
        var rank = Rank.another
        var isWaiting: Bool
    }

    private(set) var shown = FakeView.Shown.nothing
    /// The content last delivered to the handler that takes images, if any.
    private(set) var taken: FakeView.Shown?
    var size = DisplaySize.any
    var inMemory: Set<Int> = []
    var lowInMemory: Set<Int> = []
    private var requested: Requested?
    private(set) var failed: Draw?
    /// Whether the view shows nothing, for options that keep its content.
    private var isEmpty = true

    var isLoading: Bool { requested != nil }
    var isWaitingForSize: Bool { requested?.isWaiting == true }

    /// Returns whether the request does not join the load in progress.
    @discardableResult mutating func bind(_ draw: Draw) -> Bool {
        if let requested, requested.draw.image == draw.image,
            requested.size == size || requested.size == .any && size == .pending
        {
            return false
        }
        failed = nil
        requested = Requested(draw: draw, size: size, isWaiting: size == .pending)
        if size == .pending { showStandIn() } else { lookUp() }
        return true
    }

    mutating func bindNothing() { (requested, failed, shown, isEmpty) = (nil, nil, .nothing, true) }

    mutating func cancel() { requested = nil }

    mutating func viewSizeChanged() {
        guard isWaitingForSize, size != .pending else { return }
        requested?.isWaiting = false
        requested?.size = size
        lookUp()
    }

    mutating func preview(_ serial: Int) {
        guard let requested = current(serial), requested.rank.rawValue <= Rank.preview.rawValue else { return }
        show(.preview(UInt8(100 + requested.draw.image)), .preview)
    }

    mutating func cached(_ serial: Int) {
        guard let requested = current(serial) else { return }
        show(UInt8(150 + requested.draw.image), .disk)
    }

    mutating func low(_ serial: Int, fails: Bool) {
        guard let requested = current(serial), !fails, requested.rank.rawValue < Rank.low.rawValue else { return }
        show(.preview(UInt8(50 + requested.draw.image)), .low)
    }

    mutating func succeed(_ serial: Int) {
        guard let requested = current(serial) else { return }
        show(UInt8(requested.draw.image), .network)
        self.requested = nil
    }

    mutating func fail(_ serial: Int) {
        guard let requested = current(serial) else { return }
        (self.requested, failed) = (nil, requested.draw)
        if requested.rank == .image { return }
        let keeps = requested.draw.keepsCurrentImage && requested.rank == .another && !isEmpty
        if requested.draw.hasFailureImage {
            (shown, isEmpty) = (.failure(Self.failure), false)
        } else if requested.rank != .low, !keeps {
            shown = requested.draw.hasPlaceholder ? .placeholder(Self.placeholder) : .nothing
            isEmpty = !requested.draw.hasPlaceholder
        }
    }

    mutating func cancelBelow(_ serial: Int) {
        guard let requested = current(serial) else { return }
        (self.requested, failed) = (nil, requested.draw)
    }

    /// Returns whether the displayed or delivered content is an image of the last request or no image, unless that
    /// request keeps the previous image.
    static func isOwn(_ shown: FakeView.Shown, of image: Int) -> Bool {
        switch shown {
        case .nothing, .placeholder(placeholder), .failure(failure): true
        case .placeholder, .failure: false
        case .preview(let value), .image(let value, _): Int(value) % 50 == image
        }
    }

    private func current(_ serial: Int) -> Requested? { requested?.draw.serial == serial ? requested : nil }

    private mutating func lookUp() {
        guard let requested else { return }
        let image = requested.draw.image
        if inMemory.contains(image) {
            show(UInt8(image), .memory)
            if !requested.draw.showsCachedFirst { self.requested = nil }
        } else if requested.draw.hasLowResolution, lowInMemory.contains(image) {
            show(.preview(UInt8(50 + image)), .low)
        } else {
            showStandIn()
        }
    }

    private mutating func showStandIn() {
        guard let requested, requested.rank == .another else { return }
        if requested.draw.hasPlaceholder, !requested.draw.keepsCurrentImage || isEmpty {
            show(.placeholder(Self.placeholder), .standIn)
        } else if !requested.draw.keepsCurrentImage {
            show(.nothing, .standIn)
        }
    }

    private mutating func show(_ value: UInt8, _ layer: ImageResponse.Layer) {
        guard requested?.draw.isTaken == true else { return show(.image(value, layer), .image) }
        requested?.rank = .image
        isEmpty = false
        taken = .image(value, layer)
    }

    private mutating func show(_ content: FakeView.Shown, _ rank: Rank) {
        shown = content
        isEmpty = content == .nothing
        requested?.rank = rank
    }
}

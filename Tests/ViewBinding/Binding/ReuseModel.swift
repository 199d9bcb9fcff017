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

    private struct Wanted {
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
    private var wanted: Wanted?
    private(set) var failed: Draw?

    var isLoading: Bool { wanted != nil }
    var isWaitingForSize: Bool { wanted?.isWaiting == true }

    /// Returns whether the request does not join the load in progress.
    @discardableResult mutating func bind(_ draw: Draw) -> Bool {
        if let wanted, wanted.draw.image == draw.image, wanted.size == size || wanted.size == .any && size == .pending {
            return false
        }
        failed = nil
        wanted = Wanted(draw: draw, size: size, isWaiting: size == .pending)
        if size == .pending { showStandIn() } else { lookUp() }
        return true
    }

    mutating func bindNothing() { (wanted, failed, shown) = (nil, nil, .nothing) }

    mutating func cancel() { wanted = nil }

    mutating func viewSizeChanged() {
        guard isWaitingForSize, size != .pending else { return }
        wanted?.isWaiting = false
        wanted?.size = size
        lookUp()
    }

    mutating func preview(_ serial: Int) {
        guard let wanted = current(serial), wanted.rank.rawValue <= Rank.preview.rawValue else { return }
        show(.preview(UInt8(100 + wanted.draw.image)), .preview)
    }

    mutating func cached(_ serial: Int) {
        guard let wanted = current(serial) else { return }
        show(UInt8(150 + wanted.draw.image), .disk)
    }

    mutating func low(_ serial: Int, fails: Bool) {
        guard let wanted = current(serial), !fails, wanted.rank.rawValue < Rank.low.rawValue else { return }
        show(.preview(UInt8(50 + wanted.draw.image)), .low)
    }

    mutating func succeed(_ serial: Int) {
        guard let wanted = current(serial) else { return }
        show(UInt8(wanted.draw.image), .network)
        self.wanted = nil
    }

    mutating func fail(_ serial: Int) {
        guard let wanted = current(serial) else { return }
        (self.wanted, failed) = (nil, wanted.draw)
        if wanted.rank == .image { return }
        if wanted.draw.hasFailureImage {
            shown = .failure(Self.failure)
        } else if wanted.rank != .low {
            shown = wanted.draw.hasPlaceholder ? .placeholder(Self.placeholder) : .nothing
        }
    }

    mutating func cancelBelow(_ serial: Int) {
        guard let wanted = current(serial) else { return }
        (self.wanted, failed) = (nil, wanted.draw)
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

    private func current(_ serial: Int) -> Wanted? { wanted?.draw.serial == serial ? wanted : nil }

    private mutating func lookUp() {
        guard let wanted else { return }
        let image = wanted.draw.image
        if inMemory.contains(image) {
            show(UInt8(image), .memory)
            if !wanted.draw.showsCachedFirst { self.wanted = nil }
        } else if wanted.draw.hasLowResolution, lowInMemory.contains(image) {
            show(.preview(UInt8(50 + image)), .low)
        } else {
            showStandIn()
        }
    }

    private mutating func showStandIn() {
        guard let wanted, wanted.rank == .another else { return }
        if wanted.draw.hasPlaceholder {
            show(.placeholder(Self.placeholder), .standIn)
        } else if !wanted.draw.keepsCurrentImage {
            show(.nothing, .standIn)
        }
    }

    private mutating func show(_ value: UInt8, _ layer: ImageResponse.Layer) {
        guard wanted?.draw.isTaken == true else { return show(.image(value, layer), .image) }
        wanted?.rank = .image
        taken = .image(value, layer)
    }

    private mutating func show(_ content: FakeView.Shown, _ rank: Rank) {
        shown = content
        wanted?.rank = rank
    }
}

import AlcedoCore
import AlcedoTesting
import AlcedoViewBinding

/// Records everything that it displays.
@MainActor final class FakeView: ImageDisplaying {
    /// The comparable form of a content. Images are distinguished by the value of their only pixel.
    enum Shown: Equatable {
        case nothing
        case placeholder(UInt8)
        case failure(UInt8)
        case preview(UInt8)
        case image(UInt8, ImageResponse.Layer)
    }

    private(set) var history: [Shown] = []
    /// The contents displayed with a transition.
    private(set) var transitions: [Shown] = []
    private(set) var activity: [Bool] = []
    private(set) var progress: [Int] = []
    var displaySize = DisplaySize.any
    private(set) var onSizeChange: (@MainActor () -> Void)?
    /// Called during each `display`, like a view that reacts to its own change.
    var onDisplay: (() -> Void)?

    var shown: Shown { history.last ?? .nothing }

    func observeDisplaySize(_ handler: @escaping @MainActor () -> Void) { onSizeChange = handler }

    func display(_ content: DisplayContent) {
        history.append(Self.shown(content))
        onDisplay?()
    }

    func transition(to content: DisplayContent) {
        transitions.append(Self.shown(content))
        display(content)
    }

    func showActivity(_ isActive: Bool) { activity.append(isActive) }

    func showProgress(_ progress: DownloadProgress) { self.progress.append(progress.received) }

    private static func shown(_ content: DisplayContent) -> Shown {
        switch content {
        case .nothing: .nothing
        case .placeholder(let image): .placeholder(image.gray)
        case .failure(let image): .failure(image.gray)
        case .preview(let image): .preview(image.gray)
        case .image(let image, from: let layer): .image(image.gray, layer)
        }
    }
}

extension DecodedImage {
    /// One gray pixel.
    static func gray(_ value: UInt8) -> DecodedImage { .gray(side: 1, level: value) }

    /// The value of the first byte.
    var gray: UInt8 { pixels.withUnsafeBytes { $0[0] } }
}

import Alcedo

/// A view that keeps what it is to show, and does no more.
@MainActor final class BenchView: ImageDisplaying {
    private(set) var content = DisplayContent.nothing

    func display(_ content: DisplayContent) { self.content = content }
}

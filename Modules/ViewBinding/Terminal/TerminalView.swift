import AlcedoCore
public import AlcedoViewBinding

/// Shows pictures in a terminal.
@MainActor public final class TerminalView: ImageDisplaying {
    /// Used for the next picture; set it anew when the terminal's size changes.
    public var renderer: TerminalRenderer
    private let redrawsInPlace: Bool
    private let write: @MainActor (String) -> Void
    private var visibleLines = 0

    /// - Parameters:
    ///   - redrawsInPlace: Whether a picture takes the place of the one before, by moving the cursor up over it. Only
    ///     for a terminal, only if nothing else was written in between, and with a canvas of fewer rows than the
    ///     terminal has, as the cursor rests on the line below. Otherwise pictures follow one another.
    ///   - write: Gets text with line feeds; is to put it out in order.
    public init(
        renderer: TerminalRenderer, redrawsInPlace: Bool = false, write: @escaping @MainActor (String) -> Void
    ) {
        self.renderer = renderer
        self.redrawsInPlace = redrawsInPlace
        self.write = write
    }

    public func display(_ content: DisplayContent) {
        let lines = content.picture.map { renderer.lines(for: $0) } ?? []
        // CUU and ED of ECMA-48: up over the old picture, then clear from there on.
        let erasing = redrawsInPlace && visibleLines > 0 ? "\u{1B}[\(visibleLines)A\u{1B}[J" : ""
        visibleLines = lines.count
        let text = erasing + lines.map { $0 + "\n" }.joined()
        if !text.isEmpty { write(text) }
    }
}

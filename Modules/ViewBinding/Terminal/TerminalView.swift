import AlcedoCore
public import AlcedoViewBinding

/// Shows pictures in a terminal. Of an animation the first frame: a ``TerminalPlayer`` plays it.
@MainActor public final class TerminalView: ImageDisplaying {
    /// Used for the next picture.
    package var renderer: TerminalRenderer
    private let redrawsInPlace: Bool
    /// The number of the picture in the terminal, where that keeps pictures.
    private let id: UInt32?
    private let write: @MainActor (String) -> Void
    private var picture: DecodedImage?
    private var visible: TerminalDrawing?

    /// - Parameters:
    ///   - renderer: For the first picture, and for all until another is set.
    ///   - redrawsInPlace: Whether a picture takes the place of the one before, by moving the cursor up over it. Only
    ///     for a terminal, only if nothing else was written in between, and with a canvas of fewer rows than the
    ///     terminal has, as the cursor rests on the line below. Otherwise pictures follow one another.
    ///   - id: Names the view's picture in the terminal, when it redraws in place by the Kitty protocol: above nought, and
    ///     of no other picture there, also of other processes. Default: by chance.
    ///   - write: Gets text with line feeds; is to put it out in order.
    public init(
        renderer: TerminalRenderer, redrawsInPlace: Bool = false, id: UInt32 = .random(in: 1...UInt32.max),
        write: @escaping @MainActor (String) -> Void
    ) {
        self.renderer = renderer
        self.redrawsInPlace = redrawsInPlace
        self.id = redrawsInPlace ? id : nil
        self.write = write
    }

    public var displaySize: DisplaySize { .target(TargetSize(renderer.pixelSize)) }

    public func display(_ content: DisplayContent) {
        picture = content.picture
        draw()
    }

    /// Shows a frame of what is shown.
    func display(frame: DecodedImage) {
        picture = frame
        draw()
    }

    /// Takes over a new size of the terminal. In place, the screen is cleared and what is shown drawn anew: when lines are
    /// broken anew, nobody knows where the picture has gone. Else the size counts from the next picture on. What was decoded
    /// for a smaller one stays as small: bind its request again.
    public func resize(to canvas: TerminalCanvas) {
        guard canvas != renderer.canvas else { return }
        renderer.canvas = canvas
        guard redrawsInPlace, picture != nil else { return }
        // ED and CUP of ECMA-48.
        write("\(removal)\u{1B}[2J\u{1B}[H")
        visible = nil
        draw()
    }

    private func draw() {
        let drawing = picture.flatMap { renderer.drawing(of: $0, id: id) }
        let text = erasing(for: drawing) + (drawing?.text ?? "")
        visible = drawing
        if !text.isEmpty { write(text) }
    }

    /// What goes before the next picture. One of the same size covers the one before, without a moment of nothing.
    private func erasing(for next: TerminalDrawing?) -> String {
        guard redrawsInPlace, let visible else { return "" }
        // CUU and ED: up over the old picture, then clear from there on.
        let up = "\u{1B}[\(visible.rows)A"
        guard let next else { return "\(up)\(removal)\u{1B}[J" }
        return next.rows == visible.rows && next.columns == visible.columns ? up : "\(up)\u{1B}[J"
    }

    private var removal: String {
        if case .kitty = renderer.graphics, let id { KittyText.remove(id) } else { "" }
    }
}

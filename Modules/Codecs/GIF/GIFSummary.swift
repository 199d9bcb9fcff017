import AlcedoCore

/// What the blocks of a GIF say, without its pixels.
struct GIFSummary {
    private(set) var frameCount = 0
    /// Whether a frame has a transparent colour or leaves an empty place of the canvas uncovered.
    private(set) var hasAlpha = false

    /// Disposal and transparency of the next image. Source: GIF89a section 23.
    private struct GraphicControl {
        var clearsFrame = false
        var isTransparent = false
    }

    /// Walks the blocks after the screen descriptor.
    init(_ input: inout GIFInput, screen: GIFScreen, limits: DecodingLimits) throws(ImageDecodingError) {
        do {
            try walk(&input, screen: screen, limits: limits)
        } catch {
            guard error.code != .exceedsLimit, frameCount > 0 else { throw error }
            return
        }
        guard frameCount > 0 else { throw ImageDecodingError(.corrupt, "GIF: there is no image") }
    }

    private mutating func walk(
        _ input: inout GIFInput, screen: GIFScreen, limits: DecodingLimits
    ) throws(ImageDecodingError) {
        var control = GraphicControl()
        // What is empty before the next frame: first the whole canvas, later what the frame before left behind.
        var empty: GIFFrame? = GIFFrame(left: 0, top: 0, size: screen.size, isInterlaced: false)
        while true {
            switch try input.byte() {
            case 0x21:
                try Self.readExtension(&input, &control)
            case 0x2C:
                let frame = try Self.skipImage(&input)
                guard frameCount < limits.maximumFrameCount else {
                    throw ImageDecodingError(
                        .exceedsLimit, "GIF: there are more than \(limits.maximumFrameCount) frames")
                }
                frameCount += 1
                let coversEmpty = empty.map(frame.covers) ?? true
                hasAlpha = hasAlpha || control.isTransparent || !coversEmpty
                empty = control.clearsFrame ? frame : nil
                control = GraphicControl()
            case 0x3B:
                return
            case let introducer:
                throw ImageDecodingError(.corrupt, "GIF: \(introducer) introduces no block")
            }
        }
    }

    private static func skipImage(_ input: inout GIFInput) throws(ImageDecodingError) -> GIFFrame {
        let (left, top) = (try input.word(), try input.word())
        let size = PixelSize(width: try input.word(), height: try input.word())
        let flags = try input.byte()
        try input.skip(GIFScreen.paletteByteCount(flags: flags))
        // The size of the first code.
        try input.skip(1)
        try input.skipSubBlocks()
        return GIFFrame(left: left, top: top, size: size, isInterlaced: flags & 0x40 != 0)
    }

    private static func readExtension(
        _ input: inout GIFInput, _ control: inout GraphicControl
    ) throws(ImageDecodingError) {
        switch try input.byte() {
        case 0xF9:
            let block = Array(input.peek(2))
            if block.count == 2, block[0] == 4 {
                control.clearsFrame = block[1] >> 2 & 7 == 2
                control.isTransparent = block[1] & 1 != 0
            }
        case 0x01:
            // Plain text is a picture of its own and uses the control up.
            control = GraphicControl()
        default:
            break
        }
        try input.skipSubBlocks()
    }
}

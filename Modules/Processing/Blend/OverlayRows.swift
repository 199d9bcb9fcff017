import AlcedoCore

/// An overlay at its place on images of one size. Nothing is filtered yet.
struct OverlayPlan {
    let overlay: ImageProcessors.Overlay
    /// The filter that makes the pixels of a tile, or of the visible part of an overlay that is not repeated; nil if
    /// the overlay keeps its size.
    private let filter: ResamplingPlan?
    /// The rectangle of the image that the overlay covers; nil if it lies outside.
    private let area: PixelRect?
    /// The pixel, of those drawn, that lies in the top left corner of `area`.
    private let origin: (x: Int, y: Int)

    /// Places an overlay.
    ///
    /// - Throws: `invalidParameter` for invalid parameters, and `tooLarge` for a scaled overlay beyond the limits.
    init(_ overlay: ImageProcessors.Overlay, on bounds: PixelSize) throws(ImageProcessingError) {
        guard (0...1).contains(overlay.opacity) else {
            throw ImageProcessingError(.invalidParameter, "invalid opacity: \(overlay.opacity)")
        }
        self.overlay = overlay
        let size = try Self.size(of: overlay, on: bounds)
        let corner = try overlay.anchor.origin(of: size, in: bounds)
        let isScaled = size != overlay.pixels.size
        guard !overlay.isTiled else {
            // The corner of the image is at this pixel of a tile.
            origin = (
                Self.remainder(-corner.x - overlay.x % size.width, size.width),
                Self.remainder(-corner.y - overlay.y % size.height, size.height)
            )
            area = PixelRect(x: 0, y: 0, width: bounds.width, height: bounds.height)
            filter = isScaled ? try Self.filter(overlay.pixels, to: size) : nil
            return
        }
        let (left, tooFarRight) = corner.x.addingReportingOverflow(overlay.x)
        let (top, tooFarDown) = corner.y.addingReportingOverflow(overlay.y)
        let frame = PixelRect(x: left, y: top, width: size.width, height: size.height)
        guard !tooFarRight, !tooFarDown, let area = frame.clipped(to: bounds) else {
            (self.area, origin, filter) = (nil, (0, 0), nil)
            return
        }
        self.area = area
        let hidden = (x: area.x - left, y: area.y - top)
        guard isScaled else {
            (origin, filter) = (hidden, nil)
            return
        }
        let whole = overlay.pixels.size
        var region = SampleRegion(of: whole)
        region.x = Double(hidden.x * whole.width) / Double(size.width)
        region.y = Double(hidden.y * whole.height) / Double(size.height)
        region.width = Double(area.size.width * whole.width) / Double(size.width)
        region.height = Double(area.size.height * whole.height) / Double(size.height)
        origin = (0, 0)
        filter = try Self.filter(overlay.pixels, region, to: area.size)
    }

    /// Whether the overlay changes pixels of the image.
    var draws: Bool { !overlay.compositing.keepsUncovered || area != nil && overlay.opacity > 0 }

    /// The columns of the overlay that are read: those that are drawn, or all if they repeat.
    private var columns: Range<Int> {
        let (end, width) = (origin.x + (area?.size.width ?? 0), filter?.size.width ?? overlay.pixels.width)
        return end <= width ? origin.x..<end : 0..<width
    }

    /// The bytes of the filtered pixels, of the filter, and of a row of floats.
    var byteCount: Int {
        guard draws else { return 0 }
        let row = columns.count * MemoryLayout<SIMD4<Float>>.stride
        guard let filter else { return row }
        let pixels = PixelBuffer.byteCount(size: filter.size, format: overlay.pixels.format) ?? .max
        return row.addingClamped(pixels).addingClamped(Int(exactly: filter.byteCount.rounded(.up)) ?? .max)
    }

    /// Returns the overlay with its pixels filtered. Throws `tooLarge` when there is no memory for them.
    func filtered() throws(ImageProcessingError) -> PlacedOverlay {
        var pixels = overlay.pixels
        if let filter {
            guard let scaled = filter.resample(pixels) else { throw PixelLimits.noBuffer(for: filter.size) }
            pixels = scaled
        }
        return PlacedOverlay(overlay: overlay, pixels: pixels, area: area, origin: origin, columns: columns)
    }

    /// Returns the size at which an overlay is drawn.
    private static func size(
        of overlay: ImageProcessors.Overlay, on bounds: PixelSize
    ) throws(ImageProcessingError) -> PixelSize {
        let size = overlay.pixels.size
        switch overlay.scale {
        case .factor(let factor):
            guard factor > 0, factor < .infinity else { break }
            let (width, height) = (Double(size.width) * factor, Double(size.height) * factor)
            let scaled = PixelSize(width: Self.side(width), height: Self.side(height))
            try PixelLimits.check(scaled, from: size)
            return scaled
        case .share(let share):
            guard share > 0, share <= 1 else { break }
            let (width, height) = (Double(bounds.width) * share, Double(bounds.height) * share)
            let box = PixelSize(width: Self.side(width), height: Self.side(height))
            return size.scaled(to: box, mode: .fit, enlarging: true)
        }
        throw ImageProcessingError(.invalidParameter, "invalid scale: \(overlay.scale)")
    }

    /// Returns the nearest length from 1 to 10¹⁵, which is far beyond the limits.
    private static func side(_ length: Double) -> Int { Int(max(1, min(length.rounded(), 1e15))) }

    private static func filter(
        _ pixels: PixelBuffer, _ region: SampleRegion? = nil, to size: PixelSize
    ) throws(ImageProcessingError) -> ResamplingPlan {
        let plan = ResamplingPlan(
            from: pixels.size, region: region, to: size, format: pixels.format, alphaMode: pixels.alphaMode,
            sampling: ResizeSampling())
        try PixelLimits.checkFilter(of: pixels.size, byteCount: plan.byteCount)
        return plan
    }

    /// Returns the remainder from 0 to `divisor - 1`.
    private static func remainder(_ value: Int, _ divisor: Int) -> Int { (value % divisor + divisor) % divisor }
}

/// An overlay at its place on images of one size, in the size at which it is drawn.
struct PlacedOverlay: Sendable {
    let overlay: ImageProcessors.Overlay
    let pixels: PixelBuffer
    /// The rectangle of the image that the overlay covers; nil if it lies outside.
    let area: PixelRect?
    /// The pixel that lies in the top left corner of `area`.
    let origin: (x: Int, y: Int)
    /// The columns of the pixels that are read.
    let columns: Range<Int>
}

/// Draws an overlay on the rows of one image.
final class OverlayRows {
    private let placed: PlacedOverlay
    private let blending: Blending
    private let coding: PixelCoding
    private let row: PixelRow

    init(_ placed: PlacedOverlay) {
        self.placed = placed
        blending = Blending(mode: placed.overlay.mode, compositing: placed.overlay.compositing)
        coding = PixelCoding(format: placed.pixels.format, alphaMode: placed.pixels.alphaMode)
        row = PixelRow(placed.columns.count)
    }

    /// Draws row `y` of the image.
    func draw(on pixels: UnsafeMutableBufferPointer<SIMD4<Float>>, _ y: Int) {
        guard let base = pixels.baseAddress else { return }
        guard let area = placed.area, y >= area.y, y < area.y + area.size.height else {
            return uncover(base, 0..<pixels.count)
        }
        read((y - area.y + placed.origin.y) % placed.pixels.height)
        let (columns, end) = (placed.columns, area.x + area.size.width)
        var (x, column) = (area.x, placed.origin.x)
        while x < end {
            let count = min(columns.upperBound - column, end - x)
            blending.blend(row.base + (column - columns.lowerBound), step: 1, over: base + x, count: count)
            x += count
            column = columns.lowerBound
        }
        uncover(base, 0..<area.x)
        uncover(base, end..<pixels.count)
    }

    private func read(_ line: Int) {
        let (pixels, columns) = (placed.pixels, placed.columns)
        pixels.row(line).withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            coding.read(base + columns.lowerBound * pixels.format.bytesPerPixel, columns.count, into: row.base)
        }
        let share = SIMD4<Float>(1, 1, 1, Float(placed.overlay.opacity))
        for index in 0..<columns.count { row.base[index] *= share }
    }

    /// Draws a transparent overlay on a part of a row.
    private func uncover(_ base: UnsafeMutablePointer<SIMD4<Float>>, _ part: Range<Int>) {
        guard !placed.overlay.compositing.keepsUncovered, !part.isEmpty else { return }
        withUnsafePointer(to: SIMD4<Float>(repeating: 0)) {
            blending.blend($0, step: 0, over: base + part.lowerBound, count: part.count)
        }
    }
}

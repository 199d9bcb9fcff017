import AlcedoCore

/// A part of a picture as indices into a palette of its own.
struct GIFIndexedPicture {
    private(set) var indices: [UInt8] = []
    /// Red, green and blue of each colour.
    let palette: [UInt8]
    let transparentIndex: Int?

    /// Keeps the colours when they are few enough, and finds others for them when they are not.
    ///
    /// - Parameter area: A part of the picture that is not empty.
    init(_ picture: GIFPicture, in area: PixelRect, maximumColorCount: Int, dithers: Bool) {
        let rows = (area.y..<area.y + area.size.height).map { y in
            let start = y * picture.size.width + area.x
            return picture.pixels[start..<start + area.size.width]
        }
        indices.reserveCapacity(area.size.pixelCount)
        if let exact = Self.exactPalette(rows, maximumColorCount: maximumColorCount) {
            palette = exact.colors.flatMap { GIFColor($0).bytes }
            transparentIndex = exact.index(of: 0).map(Int.init)
            for row in rows { for pixel in row { indices.append(exact.index(of: pixel) ?? 0) } }
            return
        }
        let isTransparent = rows.contains { $0.contains(0) }
        let colors = MedianCut.colors(of: rows, maximumCount: maximumColorCount - (isTransparent ? 1 : 0))
        palette = colors.flatMap(\.bytes) + (isTransparent ? [0, 0, 0] : [])
        transparentIndex = isTransparent ? colors.count : nil
        var mapper = GIFColorMapper(colors, width: area.size.width, dithers: dithers)
        for row in rows { mapper.append(row, transparentIndex: transparentIndex ?? 0, to: &indices) }
    }

    private static func exactPalette(_ rows: [ArraySlice<UInt32>], maximumColorCount: Int) -> ExactPalette? {
        var palette = ExactPalette()
        for row in rows {
            var last: UInt32?
            for pixel in row where pixel != last {
                guard palette.insert(pixel) != nil, palette.colors.count <= maximumColorCount else { return nil }
                last = pixel
            }
        }
        return palette
    }
}

/// Gives pixels the nearest colours of a palette, row by row.
///
/// The nearest colour is found once for each of 262144 cells of six bits a sample, for the middle of the cell. Errors,
/// where they are spread, go on by Floyd and Steinberg's weights, alternate rows from right to left; transparent pixels
/// neither take nor pass any. Source: R. Floyd, L. Steinberg, "An adaptive algorithm for spatial grey scale", 1976.
struct GIFColorMapper {
    private let colors: [GIFColor]
    private let dithers: Bool
    /// The nearest colour of each cell, -1 until it is asked for.
    private var nearest = [Int16](repeating: -1, count: 1 << 18)
    /// Errors for this row and the next, in sixteenths, with a column more at both ends.
    private var errors: [SIMD4<Int32>]
    private var nextErrors: [SIMD4<Int32>]
    private var isReversed = false

    /// - Parameter colors: 1 to 256.
    init(_ colors: [GIFColor], width: Int, dithers: Bool) {
        self.colors = colors
        self.dithers = dithers
        errors = Array(repeating: SIMD4(repeating: 0), count: width + 2)
        nextErrors = errors
    }

    /// Appends the indices of a row's pixels.
    mutating func append(_ row: ArraySlice<UInt32>, transparentIndex: Int, to indices: inout [UInt8]) {
        let start = indices.count
        indices.append(contentsOf: repeatElement(UInt8(truncatingIfNeeded: transparentIndex), count: row.count))
        for step in 0..<row.count {
            let x = isReversed ? row.count - 1 - step : step
            let pixel = row[row.startIndex + x]
            guard pixel != 0 else { continue }
            indices[start + x] = dithers ? dithered(pixel, at: x) : index(of: GIFColor(pixel))
        }
        guard dithers else { return }
        swap(&errors, &nextErrors)
        for x in nextErrors.indices { nextErrors[x] = SIMD4(repeating: 0) }
        isReversed.toggle()
    }

    private mutating func dithered(_ pixel: UInt32, at x: Int) -> UInt8 {
        let color = GIFColor(pixel)
        let place = x + 1
        let wished =
            SIMD4<Int32>(Int32(color.red), Int32(color.green), Int32(color.blue), 0)
            &+ ((errors[place] &+ SIMD4(repeating: 8)) &>> SIMD4(repeating: 4))
        let clamped = wished.clamped(lowerBound: SIMD4(repeating: 0), upperBound: SIMD4(repeating: 255))
        let index = index(of: GIFColor(red: Int(clamped.x), green: Int(clamped.y), blue: Int(clamped.z)))
        let found = colors[Int(index)]
        let error = clamped &- SIMD4(Int32(found.red), Int32(found.green), Int32(found.blue), 0)
        let ahead = isReversed ? -1 : 1
        errors[place + ahead] &+= error &* SIMD4(repeating: 7)
        nextErrors[place - ahead] &+= error &* SIMD4(repeating: 3)
        nextErrors[place] &+= error &* SIMD4(repeating: 5)
        nextErrors[place + ahead] &+= error
        return index
    }

    private mutating func index(of color: GIFColor) -> UInt8 {
        let cell = (color.red & ~3) << 10 | (color.green & ~3) << 4 | color.blue >> 2
        if nearest[cell] >= 0 { return UInt8(truncatingIfNeeded: nearest[cell]) }
        let middle = GIFColor(red: color.red & ~3 | 2, green: color.green & ~3 | 2, blue: color.blue & ~3 | 2)
        var best = (index: 0, distance: Int.max)
        for (index, candidate) in colors.enumerated() {
            let distance = middle.distance(to: candidate)
            if distance < best.distance { best = (index, distance) }
        }
        nearest[cell] = Int16(best.index)
        return UInt8(truncatingIfNeeded: best.index)
    }
}

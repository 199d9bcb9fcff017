/// Copies pixels of a picture in tiles, so that what is read down columns is still in the cache for the next one.
struct TileWalk {
    private static let side = 32

    /// The size of what is written.
    let size: PixelSize
    /// Bytes from row to row of what is written.
    let stride: Int
    /// Bytes from the source of a pixel to that of its right neighbour.
    let across: Int
    /// Bytes from the source of a pixel to that of the one below.
    let down: Int

    /// - Parameters:
    ///   - type: As large as a pixel.
    ///   - source: Where the first pixel comes from.
    @inline(__always)
    func copy<Pixel: BitwiseCopyable>(
        _ type: Pixel.Type, from source: UnsafeRawPointer, to target: UnsafeMutableRawPointer
    ) {
        let bytes = MemoryLayout<Pixel>.size
        for top in Swift.stride(from: 0, to: size.height, by: Self.side) {
            for left in Swift.stride(from: 0, to: size.width, by: Self.side) {
                for y in top..<min(size.height, top + Self.side) {
                    var from = source + (y &* down &+ left &* across)
                    var to = target + (y &* stride &+ left &* bytes)
                    for _ in left..<min(size.width, left + Self.side) {
                        to.storeBytes(of: from.load(as: Pixel.self), as: Pixel.self)
                        from += across
                        to += bytes
                    }
                }
            }
        }
    }
}

public import AlcedoCore

/// Changes every pixel by an app's own function, on whole pictures and on rows.
///
/// Of an animation the first frame remains.
///
/// - Complexity: O(*w* × *h*), one new buffer, or two rows.
public struct PixelClosureProcessor: PointProcessing, HashableByIdentifier {
    /// Changes red, green, blue and alpha from 0 to 1, colour not multiplied by alpha. What leaves that range is cut off.
    public typealias Body = @Sendable (_ pixel: SIMD4<Float>) -> SIMD4<Float>

    public let identifier: String
    private let body: Body

    /// - Parameters:
    ///   - identifier: Names the function and every value it captures, as that of ``ClosureProcessor`` does.
    ///   - body: The work, called for every pixel. Of a gray image the red of the result is kept, of an opaque one the
    ///     colour.
    public init(identifier: String, _ body: @escaping Body) {
        self.identifier = identifier
        self.body = body
    }

    public func work(on header: PixelRowHeader) -> PointWork? {
        PointWork(on: header) { [body] pixels, _ in
            for x in pixels.indices { pixels[x] = body(pixels[x]) }
        }
    }
}

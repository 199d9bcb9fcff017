import AlcedoCore

/// What the kernels must know of a buffer's samples.
///
/// Inside the kernels a picture is rows of floats from 0 to ``maximum``, colour multiplied by alpha, so that colour
/// hidden under transparent pixels weighs nothing.
enum SampleLayout {
    case gray8
    /// Four bytes, opaque or premultiplied.
    case color8
    /// Four bytes, straight alpha.
    case straight8
    /// Four 16-bit samples, opaque or premultiplied.
    case color16
    /// Four 16-bit samples, straight alpha.
    case straight16

    init(_ format: PixelFormat, _ alphaMode: AlphaMode) {
        let straight = alphaMode == .straight
        self =
            switch format {
            case .gray8: .gray8
            case .rgbx8: .color8
            case .rgba8: straight ? .straight8 : .color8
            case .rgba16: straight ? .straight16 : .color16
            }
    }

    /// Floats for each pixel.
    var channels: Int { self == .gray8 ? 1 : 4 }

    /// The largest sample.
    var maximum: Float {
        switch self {
        case .gray8, .color8, .straight8: 255
        case .color16, .straight16: 65_535
        }
    }

    /// Floats to keep for a row of `width` pixels: a multiple of 16, which is what the vector loops step by.
    func floatsPerRow(_ width: Int) -> Int { (width * channels + 15) / 16 * 16 }
}

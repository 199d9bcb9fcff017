import Alcedo
import AlcedoBMP

extension CodecRegistry {
    /// The codecs of originals: the standard codecs, and those of bitmaps and icons.
    static let server = CodecRegistry.standard.adding(.bmp).adding(.ico(png: .png))
}

import Alcedo
import AlcedoBMP

extension CodecRegistry {
    /// The codecs of the tool: the standard codecs, and those of bitmaps and icons.
    static let tool = CodecRegistry.standard.adding(.bmp).adding(.ico(png: .png))
}

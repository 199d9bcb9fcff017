#if AVIF
    import AlcedoAVIF
#endif
import AlcedoBMP
import AlcedoCodecs
package import AlcedoCore

extension CodecRegistry {
    /// The codecs of the programs: those of AlcedoCodecs, BMP and ICO, and AVIF in a build with the package trait
    /// `AVIF`.
    package static let programs = CodecRegistry.standard
        .adding(.bmp)
        .adding(.ico(png: .png))
        #if AVIF
            .adding(.avif)
        #endif
}

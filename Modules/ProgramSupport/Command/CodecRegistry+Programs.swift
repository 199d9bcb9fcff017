#if AVIF
    import AlcedoAVIF
#endif
import AlcedoBMP
import AlcedoCodecs
package import AlcedoCore
#if JXL
    import AlcedoJXL
#endif

extension CodecRegistry {
    /// The codecs of the programs: those of AlcedoCodecs, BMP and ICO, and those of the enabled package traits: AVIF
    /// with `AVIF`, and JPEG XL with `JXL`.
    package static let programs = CodecRegistry.standard
        .adding(.bmp)
        .adding(.ico(png: .png))
        #if AVIF
            .adding(.avif)
        #endif
        #if JXL
            .adding(.jxl)
        #endif
}

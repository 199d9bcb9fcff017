#if AVIF
    import AlcedoAVIF
#endif
import AlcedoBMP
import AlcedoCodecs
package import AlcedoCore
#if JXL
    import AlcedoJXL
#endif
#if SVG
    import AlcedoSVG
#endif

extension CodecRegistry {
    /// The codecs of the programs: those of AlcedoCodecs, BMP and ICO, and those of the enabled package traits: AVIF
    /// with `AVIF`, JPEG XL with `JXL`, and SVG with `SVG`.
    package static let programs = CodecRegistry.standard
        .adding(.bmp)
        .adding(.ico(png: .png))
        #if AVIF
            .adding(.avif)
        #endif
        #if JXL
            .adding(.jxl)
        #endif
        #if SVG
            .adding(.svg)
        #endif
}

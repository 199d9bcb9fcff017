#if AVIF
    import AlcedoAVIF
#endif
import AlcedoCodecs
package import AlcedoCore
#if JXL
    import AlcedoJXL
#endif

extension CodecRegistry {
    /// The codecs of the programs: those of AlcedoCodecs, and those of the enabled package traits: AVIF with `AVIF`,
    /// and JPEG XL with `JXL`.
    package static var programs: CodecRegistry { standard.withAVIF.withJXL }

    private var withAVIF: CodecRegistry {
        #if AVIF
            return adding(.avif)
        #else
            return self
        #endif
    }

    private var withJXL: CodecRegistry {
        #if JXL
            return adding(.jxl)
        #else
            return self
        #endif
    }
}

#if AVIF
    import AlcedoAVIF
#endif
import AlcedoCodecs
package import AlcedoCore
#if SVG
    import AlcedoSVG
#endif

extension CodecRegistry {
    /// The codecs of the programs: those of AlcedoCodecs, and AVIF and SVG in a build with the package traits `AVIF`
    /// and `SVG`.
    package static var programs: CodecRegistry {
        var codecs = CodecRegistry.standard
        #if AVIF
            codecs = codecs.adding(.avif)
        #endif
        #if SVG
            codecs = codecs.adding(.svg)
        #endif
        return codecs
    }
}

#if AVIF
    import AlcedoAVIF
#endif
import AlcedoBMP
import AlcedoCodecs
package import AlcedoCore
#if HEIF && Sandbox
    import AlcedoHEIF
    import AlcedoSandbox
#endif
#if JXL
    import AlcedoJXL
#endif
#if SVG
    import AlcedoSVG
#endif

extension CodecRegistry {
    /// The codecs of the programs and of their worker processes: those of AlcedoCodecs, BMP and ICO, and those of the
    /// enabled package traits.
    ///
    /// HEIF is decoded only in worker processes. In a worker process, its decoder runs in the process itself.
    package static let programs = CodecRegistry.standard
        .adding(.bmp)
        .adding(.ico(png: .png))
        #if AVIF
            .adding(.avif)
        #endif
        #if JXL
            .adding(.jxl)
        #endif
        #if HEIF && Sandbox
            .adding(SandboxWorker.isRequested ? .heifInProcess : .heif(decodedBy: SandboxedHEIFDecoder()))
        #endif
        #if SVG
            .adding(.svg)
        #endif
}

/// The worker processes of the programs.
package enum ProgramWorker {
    /// Loads what the codecs need files for, and returns the paths of the files that they read later. A worker process
    /// calls it before it confines itself.
    package static func prepare() -> [String] {
        #if SVG
            return SVGFonts.load()
        #else
            return []
        #endif
    }
}

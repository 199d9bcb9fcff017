#if AVIF
    import AlcedoAVIF
#endif
import AlcedoCodecs
package import AlcedoCore
#if HEIF && Sandbox
    import AlcedoHEIF
    import AlcedoSandbox
#endif

extension CodecRegistry {
    /// The codecs of the programs: those of AlcedoCodecs, AVIF in a build with the package trait `AVIF`, and HEIF in a
    /// build with the traits `HEIF` and `Sandbox`. HEIF is decoded only in confined worker processes.
    package static var programs: CodecRegistry {
        var codecs = CodecRegistry.standard
        #if AVIF
            codecs = codecs.adding(.avif)
        #endif
        #if HEIF && Sandbox
            codecs = codecs.adding(.heif(decodedBy: SandboxedHEIFDecoder()))
        #endif
        return codecs
    }

    /// The codecs of the worker processes: those of ``programs``, whose decoders run in the process itself.
    package static var workers: CodecRegistry {
        #if HEIF && Sandbox
            return .programs.adding(.heifInProcess)
        #else
            return .programs
        #endif
    }
}

/// The worker processes of the programs.
package enum ProgramWorker {
    /// Runs a worker, and never returns, if this process was started as one. Otherwise, and in builds without the
    /// package traits `HEIF` and `Sandbox`, does nothing.
    ///
    /// Programs call it first in `main`.
    package static func runIfRequested() {
        #if HEIF && Sandbox
            SandboxWorker.runIfRequested(.workers)
        #endif
    }
}

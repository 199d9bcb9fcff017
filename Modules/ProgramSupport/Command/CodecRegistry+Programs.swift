#if AVIF
    import AlcedoAVIF
#endif
import AlcedoBMP
import AlcedoCodecs
package import AlcedoCore
#if HEIF && Sandbox
    import AlcedoHEIF
#endif
#if JXL
    import AlcedoJXL
#endif
#if Sandbox
    package import AlcedoSandbox
#endif
#if SVG
    import AlcedoSVG
#endif
#if TIFF
    import AlcedoTIFF
#endif

extension CodecRegistry {
    /// The codecs of the programs and of their worker processes: those of AlcedoCodecs, BMP and ICO, and those of the
    /// enabled package traits.
    ///
    /// HEIF is decoded only in worker processes. In a worker process, its decoder runs in the process itself.
    package static let programs: CodecRegistry = {
        #if SVG
            // Lines of libraries would stand between those of the program. GLib writes some to the descriptor itself.
            SVGFonts.discardMessages()
        #endif
        return CodecRegistry.standard
            .adding(.bmp)
            .adding(.ico(png: .png))
            #if AVIF
                .adding(.avif)
            #endif
            #if JXL
                .adding(.jxl)
            #endif
            #if HEIF && Sandbox
                .adding(
                    SandboxWorker.isRequested
                        ? .heifInProcess
                        : .heif(decodedBy: WorkerDecoder(format: .heif, sandbox: .standard, unconfined: nil)))
            #endif
            #if SVG
                .adding(.svg)
            #endif
            #if TIFF
                .adding(.tiff)
            #endif
    }()
}

#if Sandbox
    extension CodecRegistry {
        /// Whether HEIF is one of the formats of the programs, which is decoded only in worker processes.
        package static var programsHaveHEIF: Bool {
            #if HEIF
                return true
            #else
                return false
            #endif
        }

        /// The formats whose libraries are large and young, start from markup, or have a record of memory errors, and
        /// have failed on hostile files.
        private static let isolatedFormats: Set = ["avif", "heif", "jxl", "svg", "tiff"]

        /// Returns the codecs with decoders of AVIF, HEIF, JPEG XL, SVG and TIFF that run in worker processes. A worker
        /// that fails costs one image.
        ///
        /// Where the kernel or the container does not allow confined processes, HEIF is an error with the code
        /// `decoderUnavailable`, and the other formats are decoded in the process itself.
        ///
        /// - Parameters:
        ///   - sandbox: The worker processes.
        ///   - everyFormat: Whether the decoders of all formats run in worker processes, and never in the process
        ///     itself. Default: false.
        package func isolated(in sandbox: ProgramSandbox, everyFormat: Bool = false) -> CodecRegistry {
            CodecRegistry(
                entries.map { entry in
                    guard everyFormat || Self.isolatedFormats.contains(entry.format.rawValue) else { return entry }
                    var isolated = entry
                    isolated.decoder = WorkerDecoder(
                        format: entry.format, sandbox: sandbox,
                        unconfined: everyFormat || entry.format.rawValue == "heif" ? nil : entry.decoder,
                        page: entry.decoder.selectedPage)
                    return isolated
                })
        }

        /// Returns the codecs with a decoder of HEIF that uses the caller's worker processes instead of its own.
        /// Without the package trait `HEIF`, returns the codecs unchanged.
        ///
        /// - Parameter sandbox: The worker processes, or the error that prevented them from starting. With an error,
        ///   every HEIF is an error with the code `decoderUnavailable`.
        package func decodingHEIF(in sandbox: Result<Sandbox, SandboxError>) -> CodecRegistry {
            #if HEIF
                return adding(
                    .heif(decodedBy: WorkerDecoder(format: .heif, sandbox: ProgramSandbox(sandbox), unconfined: nil)))
            #else
                return self
            #endif
        }
    }
#endif

/// The worker processes of the programs.
package enum ProgramWorker {
    #if Sandbox
        /// Runs a worker, and never returns, if a sandbox started this process. Otherwise does nothing.
        package static func runIfRequested() {
            SandboxWorker.runIfRequested(.programs, conversions: conversions, prepare: prepare)
        }

        private static var conversions: [SandboxedConversion] {
            #if JXL
                return Recompressor.Direction.allCases.map { direction in
                    SandboxedConversion(direction.rawValue) { data, effort, limits in
                        try direction.convert(data, effort: effort, limits: limits)
                    }
                }
            #else
                return []
            #endif
        }
    #endif

    /// Loads what the codecs need files for, and returns the paths of the files that they read later. A worker process
    /// calls it before it confines itself.
    private static func prepare() -> [String] {
        #if SVG
            return SVGFonts.load()
        #else
            return []
        #endif
    }
}

import Alcedo
import AlcedoProgramSupport
#if Sandbox
    import AlcedoSandbox
#endif
import FoundationEssentials

/// The benchmarks, one command each. A competitor is measured alternately with Alcedo in the same run.
@main
enum AlcedoBench {
    private static let help = """
        alcedo-bench measures Alcedo against comparable libraries.

        usage:
          alcedo-bench decode DIR [options]      measure the decoders against the same C libraries
          alcedo-bench encode DIR [options]      measure the encoders against Pillow and libvips
          alcedo-bench memory FILE [options]     measure the memory of decoding an image
          alcedo-bench disk-cache [options]      measure the disk caches against plain system calls
          alcedo-bench memory-cache [options]    measure hits, misses and puts of the memory caches, or replay a trace
          alcedo-bench response-cache [options]  measure fresh hits of the response cache
          alcedo-bench download [options]        measure downloads against a C loop, URLSession and aiohttp
          alcedo-bench pipeline [options]        measure hits, equal requests and memory of the pipeline
          alcedo-bench binding [options]         measure the main-thread time of binding images to views
          alcedo-bench resize [options]          measure the processors against Pillow
          alcedo-bench color [options]           measure color conversion against libvips
          alcedo-bench thumbnail [options]       measure thumbnails against Pillow and libvips
          alcedo-bench formats [options]         measure thumbnails of further formats and of animations
          alcedo-bench convert [options]         measure conversions of a large image against libvips
          alcedo-bench inspect [options]         measure alcedo inspect against a C loop that reads headers
          alcedo-bench start [options]           measure the start of alcedo and of a worker of the sandbox
          alcedo-bench server [options]          measure thumbnail-server against Thumbor
          alcedo-bench sandbox [options]         measure decoding in a worker of the sandbox against this process
          alcedo-bench growth [options]          measure how time and memory grow with the number of items
          alcedo-bench all [options]             run all benchmarks and write a report

        'alcedo-bench COMMAND --help' prints the options of a command.

        exit status:
          0    success
          1    a benchmark failed
          2    the command line is invalid
          130  ended by Ctrl-C (SIGINT)
          143  ended by SIGTERM
          129  ended by SIGHUP

        """

    private static let program = CommandProgram(
        name: "alcedo-bench", help: help, version: AlcedoVersion.text,
        commands: [
            DecodeBenchCommand.self, EncodeBenchCommand.self, MemoryBenchCommand.self, DiskCacheBenchCommand.self,
            MemoryCacheBenchCommand.self, ResponseCacheBenchCommand.self, DownloadBenchCommand.self,
            PipelineBenchCommand.self, BindingBenchCommand.self, ResizeBenchCommand.self, ColorBenchCommand.self,
            ThumbnailBenchCommand.self, FormatBenchCommand.self, ConvertBenchCommand.self, InspectBenchCommand.self,
            StartBenchCommand.self, ServerBenchCommand.self, SandboxBenchCommand.self, GrowthBenchCommand.self,
            AllBenchCommand.self,
        ])

    static func main() {
        #if Sandbox
            // The sandbox starts this program again for its workers, which never return from this call.
            SandboxWorker.runIfRequested(.programs)
        #endif
        EarlyInterruption.install("alcedo-bench: interrupted\n", isQuiet: false)
        ExitStatus.end(program.name) { try await program.run(CommandLine.arguments.dropFirst()) }
    }
}

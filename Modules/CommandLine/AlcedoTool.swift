import AlcedoCore
import AlcedoProgramSupport

/// The `alcedo` command-line tool, which uses the standard pipeline.
@main
enum AlcedoTool {
    private static let help = """
        alcedo loads, converts and shows images, and manages their cache.

        usage:
          alcedo load IMAGE... [options]           load images, print a table and draw a contact sheet
          alcedo inspect IMAGE... [options]        print the properties of images as text or JSON
          alcedo decode IMAGE... [options]         write the pixels of images and of animation frames
          alcedo convert IMAGE... [options]        write images in another format
          alcedo thumbnail IMAGE... [options]      write thumbnails of images
          alcedo contact-sheet IMAGE... [options]  draw several images on one sheet
          alcedo show IMAGE... [options]           show images and animations in the terminal
          alcedo cache stat|list|verify|trim|clear [options]
                                                   inspect and maintain the disk cache

        An IMAGE is a URL, a file, a directory, a pattern such as '*.jpg', or - for standard input. --list FILE adds the
        images that a file lists.

        'alcedo COMMAND --help' prints the options of a command. 'alcedo --version' prints the version.

        exit status:
          0    success
          1    an image, a write to the disk cache, or the command failed
          2    the command line is invalid
          130  ended by Ctrl-C (SIGINT)
          143  ended by SIGTERM
          129  ended by SIGHUP

        """

    private static let program = CommandProgram(
        name: "alcedo", help: help, version: AlcedoVersion.text,
        commands: [
            LoadCommand.self, InspectCommand.self, DecodeCommand.self, ConvertCommand.self, ThumbnailCommand.self,
            ContactSheetCommand.self, ShowCommand.self, CacheCommand.self,
        ])

    static func main() {
        #if Sandbox
            // The sandbox starts this program again for its workers, which never return from this call.
            ProgramWorker.runIfRequested()
        #endif
        EarlyInterruption.install(
            "alcedo: interrupted\n", isQuiet: CommandLine.arguments.contains { $0 == "--quiet" || $0 == "-q" })
        ExitStatus.end(program.name) { try await program.run(CommandLine.arguments.dropFirst()) }
    }
}

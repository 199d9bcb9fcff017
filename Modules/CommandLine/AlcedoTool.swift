import AlcedoCore
import AlcedoProgramSupport

/// The `alcedo` command-line tool, which uses the standard pipeline.
@main
enum AlcedoTool {
    private static let help = """
        alcedo loads, caches and shows images.

        usage:
          alcedo load IMAGE... [options]         load images, print a table, draw a contact sheet
          alcedo inspect IMAGE... [options]      say what images are, as text or JSON
          alcedo decode IMAGE... [options]       write the pixels of images, and of every frame
          alcedo convert IMAGE... [options]      write images in another format
          alcedo thumbnail IMAGE... [options]    write small pictures of images
          alcedo contact-sheet IMAGE... [options]
                                                 draw many images on one picture
          alcedo show IMAGE... [options]         draw images in the terminal, and play them
          alcedo cache stat|list|verify|trim|clear [options]
                                                 look into the cache on disk, and put it in order

        An IMAGE is a URL, a file, a folder, a pattern such as '*.jpg', or - for standard input; --list FILE names more.
        alcedo COMMAND --help says more; alcedo --version says which this is.

        It ends with 0, with 1 when something failed, with 2 when the command line makes no sense, with 130 after Ctrl-C,
        with 143 after SIGTERM and 129 after SIGHUP.

        """

    private static let program = CommandProgram(
        name: "alcedo", help: help, version: AlcedoVersion.text,
        commands: [
            LoadCommand.self, InspectCommand.self, DecodeCommand.self, ConvertCommand.self, ThumbnailCommand.self,
            ContactSheetCommand.self, ShowCommand.self, CacheCommand.self,
        ])

    static func main() {
        EarlyInterruption.install(
            "alcedo: interrupted\n", isQuiet: CommandLine.arguments.contains { $0 == "--quiet" || $0 == "-q" })
        ExitStatus.end(program.name) { try await program.run(CommandLine.arguments.dropFirst()) }
    }
}

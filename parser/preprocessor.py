from camkes.parser.positions import Text
def preprocess(source, sink, options):
    return Text.of(source), (source,)

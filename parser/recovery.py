from camkes.parser import codes
class Recovery:
    def __init__(self, parser): self.p=parser
    def recover(self, position):
        p=self.p
        row=p.tables.rows[p.states[-1]]
        p.sink.report(codes.SYNTAX_ERROR, f"unexpected `{p.tokens.word(position)}`", p.tokens.text.span(p.tokens.starts[position],p.tokens.ends[position]),label="expected "+",".join(k for k in row if k.isupper()))
        return None
